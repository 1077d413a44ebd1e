/** Runs before every test file: the stores of this process check each operation against its class and the index guards. */
import { afterAll } from 'vitest'
import { verifyOperations } from '../src/stores/working-set/overlay/verification.ts'
import { closeBehindFile } from './after-file.ts'

verifyOperations(true)
afterAll(closeBehindFile)
