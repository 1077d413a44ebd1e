import { expect, test } from 'vitest'
import { COMMAND, errorIn, workplace } from './workplace.ts'

const CTRL_C = '\u0003'
/** Moves to the first line of a terminal, and clears what follows. */
const CLEAR_SCREEN = '\u001b[H\u001b[J'

const HANDLERS = `
import { PermanentError, task } from 'flowfabric'

export const greet = task<{ name: string }, string>('greet').handle(({ name }) => \`Hello, \${name}\`)

export const refuse = task('refuse').handle(() => {
  throw new PermanentError('this can never work')
})
`

test('run prints the events of what it submits, and then its result', async () => {
  const place = await workplace()
  await place.install()
  await place.write('handlers.ts', HANDLERS)
  const dev = place.start(['dev', 'handlers.ts', '--no-server'])
  await dev.prints(/Events follow/)

  const ran = await place.run(['run', 'greet', '{"name":"Ada"}', '--id', 'ada'])
  const again = await place.run(['run', 'greet', '{"name":"Ada"}', '--id', 'ada', '--json'])
  const refused = await place.run(['run', 'refuse', '--json'])

  expect(ran.code).toBe(0)
  expect(ran.stdout.match(/execution_created|attempt_started|execution_ended/g)).toEqual([
    'execution_created',
    'attempt_started',
    'execution_ended',
  ])
  expect(ran.stdout.trimEnd().split('\n').at(-1)).toBe('"Hello, Ada"')
  const last = JSON.parse(again.stdout.trimEnd().split('\n').at(-1) ?? '') as unknown
  expect(last).toMatchObject({ kind: 'joined', state: 'completed', result: 'Hello, Ada' })
  expect(refused.code).toBe(5)
  expect(refused.stdout).toContain('"outcome":"failed"')
  expect(errorIn(refused).code).toBe('execution_failed')
})

test('run that is interrupted leaves the execution as it is', async () => {
  const place = await workplace()
  const running = place.start(['run', 'greet', '--id', 'later'])
  await running.prints(/execution_created/)

  const ended = await running.endBy('SIGINT')

  expect(ended.code).toBe(130)
  expect(ended.stderr).toContain('The execution continues.')
  expect(await place.json('show', 'later')).toMatchObject({ state: 'waiting' })
})

test('top shows lanes and workers again and again, with totals', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet'])
  await place.run(['submit', 'greet', '--lane', 'slow'])

  const once = await place.json<{ totals: object; lanes: object[] }>('top', '--once')
  const top = place.start(['top', '--json'])
  await top.prints(/("totals"[^]*){2}/)
  const ended = await top.endBy('SIGINT')
  const text = await place.run(['top', '--once'])

  expect(once.totals).toMatchObject({ waiting: 2, active: 0, workers: 0 })
  expect(once.lanes).toHaveLength(2)
  expect(ended.code).toBe(130)
  expect(text.stdout).toMatch(/2 waiting \(the oldest waits for /)
  expect(text.stdout).toContain('There are no workers.')
})

test('top on a terminal replaces what it has shown, until ctrl-c', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet'])
  const command = `"${process.execPath}" "${COMMAND}" top`
  // Runs a command in a pseudo terminal.
  const terminal = place.startProgram('script', ['-qec', command, '/dev/null'], { isStdinOpen: true })

  await terminal.prints(/1 waiting[^]*1 waiting/)
  await place.run(['submit', 'greet', '--lane', 'slow'])
  await terminal.prints(/2 waiting/)
  terminal.type(CTRL_C)
  const { code, stdout } = await terminal.end()

  expect(code).toBe(130)
  const [before, ...screens] = stdout.split(CLEAR_SCREEN)
  expect(before).toBe('')
  expect(screens.length).toBeGreaterThan(2)
  for (const screen of screens) expect(screen.match(/There are no workers\./g)).toHaveLength(1)
  expect(screens.at(-1)).toMatch(/2 waiting \(the oldest waits for [^]*slow/)
})
