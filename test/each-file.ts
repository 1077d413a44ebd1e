/** Runs before every test file: the stores of this process check each operation against its class and the index guards. */
import { verifyOperations } from '../src/stores/working-set/verification.ts'

verifyOperations(true)
