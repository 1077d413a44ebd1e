import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { levelConforms } from './level-spec.ts'
import { rollingUpgradeConforms } from './rolling-upgrade-spec.ts'

async function newLocation(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return `sqlite:${path.join(folder, 'fabric.db')}`
}

const targets = [{ name: 'sqlite', newLocation }]

levelConforms(targets)
rollingUpgradeConforms(targets)
