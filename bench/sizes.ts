/** How large one piece of a scenario's load is, where that can be told: each size by a flag of its name. */
export const sizeNames = ['length', 'flows', 'width', 'n'] as const
export type SizeName = (typeof sizeNames)[number]

/** Undefined means the scenario's own number. */
export type Sizes = Readonly<Record<SizeName, number | undefined>>
