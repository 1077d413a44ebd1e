/** Runs flows whose processes come and go. The tests are the same on every store. */
import { expect, test } from 'vitest'
import { flowPlace } from './flow-place.ts'
import type { Environment } from './flow-place.ts'

const RESULT = 'deployed after unit of shop:4f1c, e2e of shop:4f1c'

export function testFlows(newStore: (name: string) => Environment): void {
  test('draws a graph while it runs, fails, is replayed by a new process and completes', async () => {
    const flows = await flowPlace(newStore('story'))
    const id = await flows.submit('release:1')
    const before = await flows.run('flow', 'show', 'release:1')
    const worker = await flows.work()
    await flows.untilNode('release:1', 'unit', 'active')
    await flows.untilNode('release:1', 'announce', 'skipped')

    const running = await flows.run('flow', 'show', id)
    await flows.place.write('go', '')
    await flows.untilState('release:1', 'failed')
    const failed = await flows.run('flow', 'show', 'release:1')
    const byShow = await flows.run('show', 'release:1')
    const byWhy = await flows.run('why', id)
    const byReplay = await flows.run('replay', 'release:1')
    const { members } = await flows.show('release:1')
    const early = await flows.run('flow', 'replay', 'release:1', 'deploy', '--json')
    await flows.place.write('mended', '')
    const replayed = await flows.run('flow', 'replay', 'release:1', 'e2e', '--reason', 'the button is back')
    const result = await flows.result('release:1')
    const after = await flows.show('release:1')
    await worker.endBy('SIGTERM')

    expect(before.stdout).toMatch(new RegExp(`^${id} release open\n`))
    expect(before.stdout).toMatch(/┌ ○ build +waiting +\d+-\S+ +ready for/)
    expect(before.stdout).toMatch(
      /├ · unit +waiting_dependencies +\S+ +after build\n├ · e2e +waiting_dependencies +\S+ +after build\n/,
    )
    expect(before.stdout).toMatch(/└ · announce +waiting_dependencies +\S+ +after deploy\n$/)
    expect(running.stdout).toMatch(/● unit +active +\S+ +\S+ +after build +on /)
    expect(running.stdout).toMatch(/✗ e2e +failed +\S+ +\S+ +after build +permanent: the button is gone\n/)
    expect(running.stdout).toMatch(/↷ deploy +skipped +\S+ +after all of unit, e2e +because e2e failed\n/)
    expect(running.stdout).toMatch(/↷ announce +skipped +\S+ +after deploy +because deploy was skipped\n/)
    expect(failed.stdout).toMatch(new RegExp(`^${id} release failed\n`))
    const e2e = members.find(({ node }) => node === 'e2e')?.id ?? ''
    expect(failed.stdout).toMatch(new RegExp(`✗ e2e +failed +\\S+ +${e2e} `))
    expect(failed.stdout).toContain(`failed      e2e (${e2e}): permanent: the button is gone\n`)
    expect(byShow).toMatchObject({ code: 0, stderr: 'release:1 is a flow.\n' })
    expect(byShow.stdout.split('\n').at(-2)).toBe(failed.stdout.split('\n').at(-2))
    expect(byWhy.stdout).toBe(
      `The flow is failed: 5 of 5 members have ended.\ne2e (${e2e}): permanent: the button is gone\n`,
    )
    expect(byReplay.code).toBe(2)
    expect(byReplay.stderr).toContain('Run flowfabric flow replay release:1 e2e.')
    expect(early.code).toBe(1)
    expect(early.stderr).toContain('upstream_not_replayed')
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('(e2e) runs again (replay 1)') as unknown,
    })
    expect(result).toBe(RESULT)
    expect(after).toMatchObject({ state: 'completed', counts: { completed: 5, failed: 0, skipped: 0 } })
  })

  test('a flow survives the kill of its worker', async () => {
    const flows = await flowPlace(newStore('kill'))
    await flows.place.write('mended', '')
    await flows.submit('release:2')
    const first = await flows.work('3s')
    const e2eAttempt = await flows.untilNode('release:2', 'e2e', 'completed')
    const buildAttempt = await flows.untilNode('release:2', 'build', 'completed')
    // On a busy machine a worker may have lost a lease before it is killed.
    const unitAttempt = await flows.untilNode('release:2', 'unit', 'active')
    await first.endBy('SIGKILL')
    const second = await flows.work()
    await flows.place.write('go', '')
    const result = await flows.result('release:2')
    const { state, members } = await flows.show('release:2')
    await second.endBy('SIGTERM')

    expect(result).toBe(RESULT)
    expect(state).toBe('completed')
    expect(members.map(({ node, state, attempt }) => [node, state, attempt])).toEqual([
      ['build', 'completed', buildAttempt],
      ['unit', 'completed', unitAttempt + 1],
      ['e2e', 'completed', e2eAttempt],
      ['deploy', 'completed', 1],
      ['announce', 'completed', 1],
    ])
  })

  test('cancels a flow and waits until its members have ended', async () => {
    const flows = await flowPlace(newStore('cancel'))
    await flows.submit('release:3')
    const worker = await flows.work()
    await flows.untilNode('release:3', 'unit', 'active')

    const waits = await flows.run('why', 'release:3')
    const begun = await flows.run('cancel', 'release:3', '--reason', 'superseded')
    const cancelled = await flows.run('flow', 'cancel', 'release:3', '--wait', '50s')
    const again = await flows.json('flow', 'cancel', 'release:3', '--policy', 'flow_only')
    await worker.endBy('SIGTERM')

    expect(waits.stdout).toMatch(/^The flow is running: \d of 5 members have ended\.\n/)
    expect(waits.stdout).toMatch(/^unit \(\S+\): /m)
    expect(begun).toMatchObject({ code: 0, stderr: 'release:3 is a flow.\n' })
    expect(begun.stdout).toContain(' cancelled; ')
    expect(cancelled.stderr).toBe('')
    expect(cancelled).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('all its members have ended') as unknown,
    })
    expect(again).toMatchObject({ kind: 'already_cancelled', policy: 'cancel_all', settled: true })
    expect(await flows.states('release:3')).toMatchObject({ build: 'completed', unit: 'cancelled' })
  })
}
