import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkRestoredLog } from './restored-log.ts'

test.each([1, 9])(
  'a SQLite file that is restored, with %i executions since, is noticed by its readers',
  async (regrowth) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-restored-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const live = path.join(folder, 'live')
    const saved = path.join(folder, 'saved')
    await mkdir(live)
    await checkRestoredLog(`sqlite:${path.join(live, 'fabric.db')}`, regrowth, {
      save: () => cp(live, saved, { recursive: true }),
      async restore() {
        await rm(live, { recursive: true })
        await cp(saved, live, { recursive: true })
        expect(await readdir(live)).toContain('fabric.db')
      },
    })
  },
)
