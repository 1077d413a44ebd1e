/** All suites of the stores, with each operation that the port serves sent over HTTP. The server checks all of their inputs. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeEach } from 'vitest'
import { conformWith } from '../conformance/harness.ts'
import { httpTarget } from './http-target.ts'

/** They look into the store, change it from outside, or run on stores of their own. */
const ofStores = ['damage', 'level', 'table']

/** What differs over HTTP, by the reason and the names of the tests. */
const differing: Readonly<Record<string, readonly string[]>> = {
  'Failures of the server are described by their code alone.': [
    'a faulty operation drops its own writes and no others',
    'a faulty operation takes back only what it did itself to a record that the batch had written',
    'a faulty replacement leaves the ended execution with all that belongs to it',
    'the caller of a faulty operation gets an error for corrupt data; the others get their answers',
  ],
  'The server sends what did not run again.': [
    'stops starting operations at its work limit, and returns which did not run',
    'stops starting operations when its reply is large enough',
  ],
  'The server refuses the input before the kernel, as clients do.': [
    'a delay of -1 ms is no delay',
    'a delay of -86400000 ms is no delay',
    'a delay of -5000 ms hands the execution back at once',
    'text comes back as it went in',
    'every event that matches is returned, unchanged and once, for any text',
    'of any kind comes back as it was, wherever it is kept: what programs use',
    'of a very long id names its execution and nothing else',
    'keeps what one partition holds apart from every other',
    'firing and moving on are one step, and no member runs before the last one exists',
    'a flow of many members is cancelled over several passes before the next one starts',
    'a graph beyond the limit is refused, and nothing is stored',
  ],
  'The server does at once what an engine would do later.': [
    'is listed until its copies are confirmed',
    'are pending from its loss until the sweep is recorded for that loss',
    'is idempotent, and refused for an unknown worker',
  ],
  'The target answers for each absent field that it is undefined, because JSON has no such fields.': [
    'a cancel drops it, as its answer shows, and its repetition starts nothing',
    'a cancel drops the follow-up, as its answer shows',
    'reject lets its own submission in several calls go on',
    'replace removes a large flow over several calls',
  ],
}
const reasons = new Map(Object.entries(differing).flatMap(([reason, names]) => names.map((name) => [name, reason])))

const folder = path.join(import.meta.dirname, '../conformance')
/** Without those for one kind of server. */
const suites = readdirSync(folder).flatMap((name) => /^([a-z-]+)\.test\.ts$/.exec(name)?.[1] ?? [])

beforeEach(({ task }) => {
  // One that does not differ any more fails, and is to be taken off the list.
  if (reasons.has(task.name)) Object.assign(task, { fails: true })
})

conformWith([httpTarget()])
for (const suite of suites.filter((name) => !ofStores.includes(name))) {
  await import(path.join(folder, `${suite}.test.ts`))
}
