/** A rolling deploy: processes are stopped one after the other and started again with the new program. */
export type Program = 'old' | 'new'

interface Deploy {
  readonly deployAtMs: number | undefined
}

const BETWEEN_MS = 400

/** When a process gets the new program, if the world has a deploy. */
export function deployedAtMs({ deployAtMs }: Deploy, position: number): number | undefined {
  return deployAtMs === undefined ? undefined : deployAtMs + position * BETWEEN_MS
}

/** The program that a process starts with. */
export function programAt(deploy: Deploy, position: number, elapsedMs: number): Program {
  return elapsedMs < (deployedAtMs(deploy, position) ?? 0) ? 'old' : 'new'
}
