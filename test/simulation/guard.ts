/** Errors of a world, unhandled rejections included, are problems of that world and end no other. */
import type { World } from './world.ts'

export async function guarded(world: World, run: () => Promise<void>): Promise<void> {
  const onRejection = (error: unknown) => void world.problems.push(`unhandled rejection: ${textOf(error)}`)
  process.on('unhandledRejection', onRejection)
  try {
    await run()
  } catch (error) {
    world.problems.push(`the world threw ${textOf(error)}`)
  } finally {
    process.off('unhandledRejection', onRejection)
  }
}

/** With the place that it came from. */
function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : String(error)
}
