/** What the function library takes from the kernel. This module and all that it imports is compiled to Lua. */
export { concernsHolder, tellsEnd } from '../../../kernel/events.ts'
export { DUE_INDEX, entriesOf, isReadyIndex } from '../../../kernel/indexes.ts'
export { CALL_REPLY_BYTES, CALL_WORK_LIMIT, READS_PER_UNIT } from '../../../kernel/limits.ts'
export { operations, workLimitOf } from '../../../kernel/operations.ts'
export { comesBefore } from '../../../kernel/order.ts'
