import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { levelConforms } from './level-spec.ts'

async function newLocation(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return `sqlite:${path.join(folder, 'fabric.db')}`
}

levelConforms([{ name: 'sqlite', newLocation }])
