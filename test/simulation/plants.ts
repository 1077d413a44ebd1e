/**
 * Faults that are planted one by one: each is a small mistake of a kind that people make. The simulator has to find every
 * one of them.
 */
import { childPlants } from './child-plants.ts'
import { flowPlants } from './flow-plants.ts'
import { flowRunPlants } from './flow-run-plants.ts'
import { idPlants } from './id-plants.ts'
import { journalPlants } from './journal-plants.ts'
import { kernelPlants } from './kernel-plants.ts'
import type { Plant } from './plant.ts'
import { processPlants } from './process-plants.ts'
import { registryPlants } from './registry-plants.ts'
import { routingPlants } from './routing-plants.ts'
import { silentPlants } from './silent-plants.ts'
import { versionPlants } from './version-plants.ts'

export const plants: readonly Plant[] = [
  ...kernelPlants,
  ...silentPlants,
  ...processPlants,
  ...flowPlants,
  ...journalPlants,
  ...childPlants,
  ...routingPlants,
  ...registryPlants,
  ...idPlants,
  ...flowRunPlants,
  ...versionPlants,
]

export function plantNamed(name: string): Plant {
  const found = plants.find((plant) => plant.name === name)
  if (found === undefined) throw new Error(`No planted fault is called ${name}.`)
  return found
}
