import { describe, expect, test } from 'vitest'
import { startServer } from '../servers/server.ts'
import type { ServerOptions } from '../servers/server-settings.ts'
import type { ServerProgram } from '../servers/server-process.ts'
import { LogLines, open } from './fabrics.ts'

const programs: ServerProgram[] = ['valkey-server', 'redis-server']

describe.each(programs)('how durable a %s is', (program) => {
  test.each<[string, ServerOptions, string, string | undefined]>([
    ['always flushes', { appendOnly: 'always' }, 'synced before every reply', undefined],
    ['flushes every second', { appendOnly: 'everysec' }, 'synced every second', undefined],
    ['takes snapshots', { settings: { save: ['3600', '1'] } }, 'snapshots only', 'since the last snapshot is lost'],
    ['keeps nothing', {}, 'none', 'everything is lost'],
  ])('that %s is reported, and warned of in the log if it loses data', async (_, options, durability, warning) => {
    await using server = await startServer({ program, ...options })
    const log = new LogLines()

    const store = await open(server.location, { log })
    const report = await store.report()

    expect(report.kind).toBe(program.replace('-server', ''))
    expect(report.version).toMatch(/^\d+\.\d+\.\d+$/)
    expect(report.location).toBe(`valkey://127.0.0.1:${server.port}, prefix ff`)
    expect(report.durability).toContain(durability)
    expect(report.warnings).toHaveLength(warning === undefined ? 0 : 1)
    expect(report.warnings.join()).toContain(warning ?? '')
    expect(log.at('warn')).toEqual(report.warnings)
  })

  test('is reported as it is now, not as it was when the store was opened', async () => {
    await using server = await startServer({ program })
    const store = await open(server.location)
    expect((await store.report()).warnings).toHaveLength(1)

    await server.call('CONFIG', 'SET', 'appendonly', 'yes')

    expect((await store.report()).warnings).toEqual([])
  })
})
