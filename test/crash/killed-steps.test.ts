import { test } from 'vitest'
import { everyKill, killAtEachCall } from './killed-steps.ts'
import { Site } from './site.ts'

test('a worker on a file is killed before and after each of its calls, and no recorded step is done again', async () => {
  using site = new Site()

  await killAtEachCall(site.location, everyKill)
})
