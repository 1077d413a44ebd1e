import { rename, rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkRestore } from './restored-work.ts'
import { workplace } from './workplace.ts'

test('a SQLite store that is restored from a backup completes all work that it had', async () => {
  const place = await workplace()
  const lost = `sqlite:${place.path('lost.db')}`
  await checkRestore(lost, place, {
    save: async () => {
      const { bytes } = await place.json<{ bytes: number }>('backup', 'monday.db', '--store', lost)
      expect(bytes).toBeGreaterThan(0)
    },
    restore: async () => {
      for (const suffix of ['', '-wal', '-shm']) await rm(place.path(`lost.db${suffix}`), { force: true })
      await rename(place.path('monday.db'), place.path('flowfabric.db'))
      return `sqlite:${place.path('flowfabric.db')}`
    },
  })
})
