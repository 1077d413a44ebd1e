/**
 * The schemas of layout 3, as they were when the layout was last written. Their order never changes: the schemas of the kernel evolve,
 * and the stores of the previous version do not. Names follow the kernel, since only the order and the kinds are stored.
 *
 * A field is `name:kind`, or `name?:kind` if it is rare. Kinds: `text`, `number`, `whole`, `flag`, `(one of these words)`,
 * `[list of a kind]`, `{object:kind …}`, `<tag variant{…} …>`.
 */
import type { Field, FieldKind, RecordType, Variant } from '../../../kernel/index.ts'

const tags = '[{name:text value:text indexed:flag}]'
const blob = '{size:whole encoding:(json bytes)}'
const failure = '{category:text message:text stack:text at:whole}'
const attemptKind = '(initial retry reclaim replay)'
const delayCause = '(submitted retry worker resume)'
const outcome = '(completed failed cancelled expired skipped)'

const group = `{policy:(all_of any_of quorum) need:whole losers:(cancel let_run) total:whole completed:whole failed:whole
  skipped:whole verdict:(pending satisfied impossible) decidedAt:whole owedFrom?:text}`

const member = `{flowId:text name:text rank:whole group:${group} delay?:{until:whole cause:${delayCause}} inputCount:whole
  given:[{name:text upstreamId:text result:${blob}}] payloadEdgeCount:whole payloadFrom?:text owesEdges:flag}`

const journal = `{life:whole firstLife:whole nextPosition:whole stepCount:whole stepBytes:whole round:whole signalCount:whole
  bufferedCount:whole open:[{target:text since:whole expiresAt:whole}] cuts:[{from:whole to:whole}] era:whole
  resumed:{step:text cause:(signal operator timeout step_retry)} isRemoving:flag}`

const execution = `id:text key?:text requestId?:text namespace:text task:text lane:text class:text priority:whole tags:${tags}
  retry:{attempts:whole backoff:<kind fixed{delayMs:whole} exponential{initialMs:whole maxMs:whole factor:number}>
    jitter:flag onlyCategories:[text]}
  attemptTimeoutMs?:whole totalTimeoutMs?:whole deadlineAt?:whole retentionMs:whole payload:${blob} result:${blob}
  createdAt:whole changedAt:whole startedAt:whole
  state:<phase
    eligible{}
    delayed{until:whole cause:${delayCause}}
    blocked{by:(dependencies budget limit operator hold)}
    active{lease:{id:text workerId:text workerInstanceId:text acquiredAt:whole expiresAt:whole} timeoutAt:whole
      cancel:{reason:text by:text at:whole forceAt:whole} runningSince:whole}
    suspended{step:text reason:text until:whole remindAt:whole}
    ended{outcome:${outcome} at:whole reason:text by:text}>
  next:(initial retry reclaim replay continue) epoch:whole
  attempt:{number:whole kind:${attemptKind} startedAt:whole usedMs:whole workerId:text workerInstanceId:text}
  failureCount:whole reclaimCount:whole replayCount:whole failure:${failure}
  progress:{percent:number message:text at:whole}
  lastLease:{id:text epoch:whole how:(completed failed cancelled expired released delayed timed_out lease_expired
    lease_revoked skipped parked suspended) until:whole}
  lastReplay:{requestId:text reason:text by:text at:whole}
  member?:${member} journal?:${journal}`

const attempt = `id:text executionId:text number:whole kind:${attemptKind} startedAt:whole endedAt:whole epoch:whole workerId:text
  workerInstanceId:text outcome:(completed failed timed_out cancelled expired lease_expired lease_revoked) failure:${failure}`

const queue = 'id:text lane:text class:text createdAt:whole'

const flow = `id:text key?:text requestId?:text namespace:text name:text tags:${tags} outcomeRule:(all_members sinks)
  retentionMs:whole createdAt:whole changedAt:whole
  state:<phase held{until:whole} open{} sealed{} ended{outcome:(completed failed) at:whole}
    cancelled{policy:(cancel_all cancel_pending flow_only) at:whole reason:text by:text force:flag graceMs:whole}>
  submission:{digest:text nodeCount:whole edgeCount:whole} memberCount:whole edgeCount:whole
  counts:{waiting:whole delayed:whole rate_limited:whole waiting_dependencies:whole active:whole suspended:whole completed:whole
    failed:whole cancelled:whole expired:whole skipped:whole superseded:whole}
  failedSinkCount:whole shortGroupCount:whole cancelsLosers:flag hasReplays:flag
  walk?:{purpose:(release cancel replay remove) fromRank:whole fromId:text rootId:text} version:whole`

const edge = `id:text flowId:text upstreamId:text downstreamId:text hands:<as input{name:text} payload{}>
  state:(open satisfied impossible) result:${blob} createdAt:whole resolvedAt:whole`

const step = `id:text executionId:text kind:(call now waitpoint sleep wait) name:text position:whole createdAt:whole
  attemptCount:whole size:whole
  state:<phase
    completed{at:whole value:${blob}}
    failed{at:whole round:whole failure:${failure}}
    retrying{at:whole until:whole round:whole failure:${failure}}
    open{since:whole}
    closed{at:whole how:(satisfied operator timed_out ended) by:text reason:text}>
  wait?:{reason:text until:whole onTimeout:(fail cancel expire resume resume_with_signal escalate)
    nodes:[{kind:(group leaf operator timeout) parent:whole need:whole by:(once signals sources waitpoints) name?:text
      from:[text] targets:[text] has:whole seen:[text]}]
    targets:[text] resumeDelayMs?:whole remindEveryMs?:whole reminderCount:whole satisfiers:[whole] closer:whole
    isEscalated:flag}`

const waitpoint = `id:text executionId:text target:text createdAt:whole round:whole generation:whole keyId?:text
  signalCount:whole bufferedCount:whole openedAfter:whole senders:[{identity:text count:whole}] lastSignalAt:whole
  closedAt:whole closeReason?:text answeredBy?:text`

const signal = `id:text executionId:text target:text sequence:whole round:whole key:text name:text
  source:{type:(token caller operator engine) identity:text} payload:${blob}
  effect:(resumed counted counted_before not_awaited buffered) isWaiting:flag at:whole`

/** What every event has, and what most types of events may have besides. */
const subject = 'at:whole executionId:text namespace:text task:text lane:text tags:[text]'
const any = `{${subject} attempt?:whole epoch?:whole workerId?:text workerInstanceId?:text outcome?:${outcome} until?:whole
  reason?:text by?:text category?:text percent?:number priority?:whole flowId?:text step?:text waitpoint?:text signal?:text
  effect?:text}`

const holder = 'attempt:whole epoch:whole workerId:text workerInstanceId:text'

const event = `event:<type
  execution_created{${subject} until?:whole flowId?:text}
  execution_replaced${any}
  attempt_started{${subject} ${holder} flowId?:text}
  attempt_failed${any} lease_expired${any} lease_revoked${any} execution_released${any} execution_delayed${any}
  execution_promoted${any} cancel_requested${any}
  execution_ended{${subject} ${holder} outcome:${outcome} reason?:text by?:text category?:text flowId?:text}
  execution_replayed${any} execution_purged${any} progress_updated${any} priority_changed${any} tags_set${any}
  execution_blocked${any} execution_unblocked${any} flow_created${any} flow_sealed${any} flow_ended${any}
  flow_cancelled${any} flow_reopened${any} flow_purged${any}
  step_recorded{${subject} attempt:whole until?:whole reason?:text category?:text flowId?:text step:text effect:text}
  execution_suspended{${subject} ${holder} until?:whole reason:text flowId?:text step:text}
  execution_resumed{${subject} attempt:whole epoch:whole until?:whole reason:text by?:text flowId?:text step:text}
  wait_reminded${any} wait_escalated${any} waitpoint_opened${any} waitpoint_closed${any}
  signal_received{${subject} by:text flowId?:text step?:text waitpoint:text signal:text effect:text}>`

/** Reads the notation. The texts above are all that it ever reads, so it checks nothing. */
class Notation {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#tokens = text.match(/\w+|\S/g) ?? []
  }

  /** The fields up to a closing token, which is passed, or to the end of the text. */
  fields(end?: string): Field[] {
    const fields: Field[] = []
    while (this.#at < this.#tokens.length && !this.#passes(end)) {
      const name = this.#next()
      const rare = this.#passes('?')
      this.#next()
      const of = this.#kind()
      fields.push(rare ? { name, of, rare } : { name, of })
    }
    return fields
  }

  #kind(): FieldKind {
    const token = this.#next()
    switch (token) {
      case '(': {
        const words: string[] = []
        while (!this.#passes(')')) words.push(this.#next())
        return { kind: 'word', words }
      }
      case '[': {
        const of = this.#kind()
        this.#next()
        return { kind: 'list', of }
      }
      case '{':
        return { kind: 'object', fields: this.fields('}') }
      case '<': {
        const tag = this.#next()
        const variants: Variant[] = []
        while (!this.#passes('>')) {
          const word = this.#next()
          this.#next()
          variants.push({ word, fields: this.fields('}') })
        }
        return { kind: 'union', tag, variants }
      }
      case 'whole':
        return { kind: 'number', whole: true }
      default:
        return { kind: token as 'text' | 'number' | 'flag' }
    }
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? ''
  }

  #passes(token: string | undefined): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at++
    return true
  }
}

function fieldsIn(text: string): readonly Field[] {
  return new Notation(text).fields()
}

/** The record types of older layouts. */
export const oldRecordTypes = [
  'execution',
  'attempt',
  'queue',
  'flow',
  'edge',
  'step',
  'waitpoint',
  'signal',
] as const satisfies readonly RecordType[]

export type OldRecordType = (typeof oldRecordTypes)[number]

export const oldFields: Readonly<Record<OldRecordType, readonly Field[]>> = {
  execution: fieldsIn(execution),
  attempt: fieldsIn(attempt),
  queue: fieldsIn(queue),
  flow: fieldsIn(flow),
  edge: fieldsIn(edge),
  step: fieldsIn(step),
  waitpoint: fieldsIn(waitpoint),
  signal: fieldsIn(signal),
}

/** One field with the event as a union of its types, since an event had no room for what its type cannot have. */
export const oldEventFields = fieldsIn(event)
