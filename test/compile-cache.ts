/**
 * Where programs that tests start keep the code that they have compiled, so that each loads modules that another has loaded several
 * times faster. The folder is the one that Node uses by default, so also that of the command.
 */
import { tmpdir } from 'node:os'
import path from 'node:path'

export const COMPILE_CACHE = path.join(tmpdir(), 'node-compile-cache')
