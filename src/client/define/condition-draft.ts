/**
 * Builds conditions: groups of parts that count signals. Flattening one for the store checks it as a whole and refuses a
 * condition that could never be met. Errors name the part of the condition.
 */
import {
  CONDITION_DEPTH_MAX,
  CONDITION_NEED_MAX,
  CONDITION_NODE_MAX,
  CONDITION_SOURCE_MAX,
  OPEN_WAITPOINT_MAX,
} from '../../kernel/limits.ts'
import type { ConditionNode, CountBy } from '../../kernel/model/journal-schema.ts'
import { checkList, checkPrincipal, invalidInput, show } from '../checks/names.ts'

/** Counts signals sent to its targets, of one name or of any. */
export interface LeafDraft {
  readonly kind: 'leaf'
  readonly need: number
  readonly by: CountBy
  readonly name: string | undefined
  readonly from: readonly string[]
  readonly targets: readonly string[]
  /** A sender that was counted by one exclusive leaf of a group is not counted by the other ones. */
  readonly isExclusive?: boolean
}

/** Counts how many of its parts are met. */
export interface GroupDraft {
  readonly kind: 'group'
  readonly need: number
  readonly parts: readonly ConditionDraft[]
}

export type ConditionDraft = LeafDraft | GroupDraft

/** A leaf that one signal meets. */
export function singleLeaf(target: string, name: string | undefined, from: readonly string[] = []): LeafDraft {
  return { kind: 'leaf', need: 1, by: 'once', name, from, targets: [target] }
}

const ROOT_PATH = '<root>'

/** Returns the condition in the store's form: the root first, every other node after its parent. */
export function flattenCondition(root: ConditionDraft): ConditionNode[] {
  const nodes: ConditionNode[] = []
  const targets = new Set<string>()
  let needed = 0
  const lay = (draft: ConditionDraft, parent: number | undefined, depth: number, path: string): void => {
    checkDraft(draft, depth, path)
    const index = nodes.length
    if (draft.kind === 'leaf') {
      for (const target of draft.targets) targets.add(target)
      needed += draft.need
      nodes.push({ ...draft, parent, from: [...draft.from], targets: [...draft.targets] })
      return
    }
    nodes.push({ kind: 'group', parent, need: draft.need, by: 'once', name: undefined, from: [], targets: [] })
    draft.parts.forEach((part, i) => {
      lay(part, index, depth + 1, path === ROOT_PATH ? `[${i}]` : `${path}[${i}]`)
    })
  }
  lay(root, undefined, 1, ROOT_PATH)
  if (nodes.length > CONDITION_NODE_MAX) {
    throw unusable(`it has ${nodes.length} parts, but at most ${CONDITION_NODE_MAX} are allowed`, ROOT_PATH)
  }
  if (targets.size > OPEN_WAITPOINT_MAX) {
    throw unusable(`it looks at ${targets.size} places, but at most ${OPEN_WAITPOINT_MAX} are allowed`, ROOT_PATH)
  }
  if (needed > CONDITION_NEED_MAX) {
    throw unusable(
      `its parts need ${needed} signals together, but at most ${CONDITION_NEED_MAX} are allowed: need fewer, or wait several times`,
      ROOT_PATH,
    )
  }
  return nodes
}

/** Runs before the parts are flattened, so that an endless list is not walked. */
function checkDraft(draft: ConditionDraft, depth: number, path: string): void {
  if (draft.kind === 'leaf') {
    checkLeaf(draft, path)
    return
  }
  if (depth > CONDITION_DEPTH_MAX) {
    throw unusable(`it is ${depth} levels deep, but at most ${CONDITION_DEPTH_MAX} are allowed`, path)
  }
  if (draft.parts.length === 0) throw unusable('it has no parts, so nothing could meet it: name at least one', path)
  if (draft.parts.length >= CONDITION_NODE_MAX) {
    throw unusable(`it has ${draft.parts.length} parts, but at most ${CONDITION_NODE_MAX - 1} are allowed`, path)
  }
}

function checkLeaf({ need, by, from, targets }: LeafDraft, path: string): void {
  checkNeed(need, by === 'sources' ? CONDITION_SOURCE_MAX : CONDITION_NEED_MAX, path)
  if (targets.length === 0) throw unusable('it names no place to look at: name at least one', path)
  const twice = targets.find((target, i) => targets.indexOf(target) !== i)
  if (twice !== undefined) throw unusable(`it names ${show(twice)} twice: once is enough`, path)
  if (by === 'waitpoints' && need > targets.length) {
    throw unusable(
      `it needs ${need} of ${targets.length} places, which can never be: count by 'signals' or by 'sources', or need fewer`,
      path,
    )
  }
  if (by === 'sources' && from.length > 0 && need > from.length) {
    throw unusable(`it needs ${need} of ${from.length} senders, which can never be: name more, or need fewer`, path)
  }
}

function checkNeed(need: unknown, maximum: number, path: string): void {
  if (Number.isInteger(need) && (need as number) >= 1 && (need as number) <= maximum) return
  throw unusable(`it needs ${show(need)}, but that must be a whole number from 1 to ${maximum}`, path)
}

function unusable(what: string, path: string): Error {
  return invalidInput('condition', `The condition cannot be used: ${what} (at ${path}).`)
}

/** Checks the senders whose signals count. Each is named once. */
export function checkSenders(value: unknown, field: string): readonly string[] {
  checkList(value, field)
  const senders = value.map((each, i) => checkPrincipal(each, `${field}[${i}]`))
  if (senders.length === 0) {
    throw invalidInput(field, `${field} is empty, so no signal would count: leave it out to accept every sender.`)
  }
  if (senders.length > CONDITION_SOURCE_MAX) {
    throw invalidInput(field, `${field} names ${senders.length}, but at most ${CONDITION_SOURCE_MAX} are allowed.`)
  }
  const twice = senders.find((each, i) => senders.indexOf(each) !== i)
  if (twice !== undefined) throw invalidInput(field, `${field} names ${show(twice)} twice: once is enough.`)
  return senders
}
