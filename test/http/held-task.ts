/** The task of a worker that is killed, and of the one that continues. */
import { task } from '../../src/client/define/task.ts'

export const held = task('held', { retry: { attempts: 3 } })
