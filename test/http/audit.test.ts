/** The audit trail: what operators did over the server. */
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { auditFile, checkAuditFile } from '../../src/server/auth/audit-file.ts'
import type { AuditEntry } from '../../src/server/auth/audit.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { LogLines } from '../valkey/fabrics.ts'
import { bearer, byRole, served } from './served.ts'

/** Makes a store of a level that has no audit trail. */
async function firstLevel(folder: string, name: string): Promise<string> {
  const location = `sqlite:${path.join(folder, `${name}.db`)}`
  await (await openStore(location, { runtime: systemRuntime(), levels: { min: 1, max: 1 } })).close()
  return location
}

test('each action of an operator leaves an audit entry with who and why, also if it is refused', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'audit.jsonl')
  const found = await served({ authenticate: byRole, audit: auditFile(file), fabric: { allNamespaces: true } })
  const entries = async () =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEntry)
  await found.ok('submitExecution', { headers: bearer('worker'), body: { task: 'greet', id: 'a', input: 'secret' } })
  await found.ok('submitExecution', { headers: bearer('worker'), body: { task: 'greet', id: 'c' } })
  const cancel = { params: { id: 'a' }, body: { reason: 'the customer left', by: 'ada' } }
  await found.refusal('cancelExecution', { ...cancel, headers: bearer('viewer') })
  await found.ok('cancelExecution', { ...cancel, headers: bearer('operator') })
  await found.refusal('cancelExecution', { ...cancel, params: { id: 'b' }, headers: bearer('operator-acme') })
  await found.ok('pauseLane', { params: { lane: 'slow' }, headers: { ...bearer('admin'), 'x-request-id': 'req-7' } })

  const change = {
    perSecond: 1_000,
    by: 'ada',
    filter: { task: ['absent'] },
    action: { kind: 'cancel', reason: 'moved' },
  }
  await found.ok('startBulk', { headers: bearer('operator'), body: change })
  await found.ok('previewBulk', { headers: bearer('operator'), body: { filter: change.filter } })
  const trail = { by: 'bob', reason: 'a new customer' }
  await found.ok('changePriority', {
    headers: bearer('operator'),
    params: { id: 'c' },
    body: { priority: 9, ...trail },
  })

  expect(await entries()).toMatchObject([
    { credential: 'viewer', role: 'viewer', action: 'cancelExecution', status: 403, code: 'forbidden' },
    {
      credential: 'operator',
      by: 'ada',
      reason: 'the customer left',
      action: 'cancelExecution',
      target: { id: 'a' },
      status: 200,
    },
    { credential: 'operator', namespace: 'acme', target: { id: 'b' }, status: 404, code: 'execution_not_found' },
    { credential: 'admin', role: 'admin', action: 'pauseLane', target: { lane: 'slow' }, requestId: 'req-7' },
    { credential: 'operator', by: 'ada', reason: 'moved', action: 'startBulk', status: 201 },
    { credential: 'operator', ...trail, action: 'changePriority', target: { id: 'c' }, status: 200 },
  ])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await expect(checkAuditFile(path.join(file, 'below'))).rejects.toMatchObject({ code: 'invalid_configuration' })
})

test('the audit trail is read again in pages, by those who may, within their namespace', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'audit.jsonl')
  const options = { authenticate: byRole, fabric: { allNamespaces: true } }
  const stored = await served(options)
  const kept = await served({ ...options, location: await firstLevel(folder, 'kept'), audit: auditFile(file) })
  const forgetful = await served({ ...options, location: await firstLevel(folder, 'forgetful') })
  for (const found of [stored, kept, forgetful]) {
    const operator = { headers: bearer('operator') }
    expect(await found.ok('listAudit', operator)).toEqual({ items: [], isKept: found !== forgetful })
    const refused = (id: string, role: string, reason: string) =>
      found.refusal('cancelExecution', { params: { id }, body: { reason, by: 'ada' }, headers: bearer(role) })
    for (let i = 0; i < 5; i++) await refused(`order:${i}`, i === 2 ? 'operator-acme' : 'operator', `é${'x'.repeat(i)}`)
    if (found === kept) await appendFile(file, 'a torn line\n{"at":1}\n')

    const idsOf = (body: Readonly<Record<string, unknown>>) =>
      (body['items'] as readonly AuditEntry[]).map(({ target }) => target['id'])
    const seen: unknown[] = []
    let cursor: string | undefined
    do {
      const page = await found.ok('listAudit', { ...operator, query: { limit: 2, ...(cursor && { cursor }) } })
      seen.push(...idsOf(page))
      cursor = page['cursor'] as string | undefined
      // A new entry does not move the pages after it.
      await refused('late', 'operator', 'late')
    } while (cursor !== undefined)
    expect(seen).toEqual(['order:4', 'order:3', 'order:2', 'order:1', 'order:0'])

    const [entry] = (await found.ok('listAudit', { ...operator, query: { target: 'order:3' } }))[
      'items'
    ] as AuditEntry[]
    expect(entry).toMatchObject({ credential: 'operator', by: 'ada', reason: 'éxxx', code: 'execution_not_found' })
    expect(idsOf(await found.ok('listAudit', { headers: bearer('operator-acme') }))).toEqual(['order:2'])
    expect(idsOf(await found.ok('listAudit', { ...operator, query: { by: 'nobody' } }))).toEqual([])
    expect(await found.refusal('listAudit', { headers: bearer('worker') })).toEqual([403, 'forbidden'])
    const query = { cursor: 'af1.0.zz' }
    expect(await found.refusal('listAudit', { ...operator, query })).toEqual([400, 'invalid_cursor'])
  }
})

test('every server of a store lists the actions over all of them, within its namespace', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const location = `sqlite:${path.join(folder, 'fabric.db')}`
  const options = { location, authenticate: byRole }
  const one = await served({ ...options, fabric: { allNamespaces: true } })
  const other = await served({ ...options, fabric: { namespace: 'acme' } })
  const headers = bearer('admin')
  await one.ok('pauseLane', { params: { lane: 'slow' }, headers, body: { by: 'ada', reason: 'x'.repeat(1_000) } })
  await other.ok('resumeLane', { params: { lane: 'slow' }, headers })

  const actionsOf = async (found: typeof one) =>
    ((await found.ok('listAudit', { headers }))['items'] as readonly AuditEntry[]).map(({ action }) => action)
  expect(await actionsOf(one)).toEqual(['resumeLane', 'pauseLane'])
  expect(await actionsOf(other)).toEqual(['resumeLane'])
  expect(await one.fabric.audit({ by: 'ada' })).toMatchObject({ items: [{ target: { lane: 'slow' }, status: 200 }] })
  expect(await other.fabric.audit({ by: 'ada' })).toMatchObject({ items: [] })
})

test('an entry that no trail takes is logged and counted, and the action is answered', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'fabric.db')
  const log = new LogLines()
  const audit = () => Promise.reject(new Error('the disk is full'))
  const found = await served({ location: `sqlite:${file}`, audit, fabric: { log } })
  const database = new DatabaseSync(file)
  database.exec(`create trigger full before insert on audit_entry begin select raise(abort, 'full'); end`)
  database.close()

  await found.ok('pauseLane', { params: { lane: 'slow' } })

  const trails = found.fabric.metrics
    .snapshot()
    .filter(({ metric }) => metric.name === 'ff_audit_failures_total')
    .map(({ labels }) => labels['trail'])
  expect(trails.toSorted()).toEqual(['host', 'store'])
  const message = 'the audit entry of an action could not be recorded'
  expect(log.at('error').filter((line) => line === message)).toHaveLength(2)
})

test('a refused request for another namespace is in the trail of the own one', async () => {
  const found = await served({ authenticate: byRole, fabric: { allNamespaces: true } })
  const asked = { params: { id: 'a' }, query: { namespace: 'other' }, headers: bearer('operator-acme') }

  expect(await found.refusal('cancelExecution', { ...asked, body: { reason: 'noise' } })).toEqual([403, 'forbidden'])
  const entriesOf = (namespace: string) => found.ok('listAudit', { query: { namespace }, headers: bearer('operator') })
  expect(await entriesOf('other')).toMatchObject({ items: [] })
  expect(await entriesOf('acme')).toMatchObject({ items: [{ credential: 'operator', code: 'forbidden' }] })
})

test('a page of the audit trail reads a bounded part of its file, and no line twice', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'audit.jsonl')
  const audit = auditFile(file)
  const line = (i: number) =>
    JSON.stringify({
      at: i,
      requestId: '',
      credential: 'ada',
      role: 'admin',
      action: 'a',
      target: {},
      reason: 'r'.repeat(200),
    })
  const lines = Array.from({ length: 15_000 }, (_, i) => line(i))
  lines.splice(8_000, 0, 'x'.repeat(5_000_000))
  await writeFile(file, `${lines.join('\n')}\n`)
  const seen = new Set<number>()
  let [pages, cursor] = [0, undefined as string | undefined]
  do {
    const page = await audit.read?.({ limit: 200, cursor, accepts: ({ at }) => at % 1_000 === 0 })
    for (const { at } of page?.items ?? []) seen.add(at)
    cursor = page?.cursor
    pages += 1
  } while (cursor !== undefined && pages < 20)
  expect([seen.size, pages > 2, cursor]).toEqual([15, true, undefined])
})
