import { tableConforms } from './table-conformance.ts'
import { embeddedTargets } from './targets.ts'

tableConforms(embeddedTargets)
