/**
 * Computes the stored form of every record and event for `src/kernel/model/schema.lock.json`, and compares two forms.
 * Stored values are found by their position. So fields, words and variants can only be appended; any other change needs a
 * new data version.
 */
import { DATA_VERSION, eventFields, fieldsOf, recordTypes } from '../src/kernel/index.ts'
import type { Field, FieldKind } from '../src/kernel/index.ts'

/** A field, word or variant, with its parts in the stored order. */
export type Form = string | [head: string, parts: Form[]]

export interface SchemaLock {
  readonly dataVersion: number
  readonly forms: Readonly<Record<string, Form[]>>
}

/** The result of a comparison. `text` contains the difference and what to do. Only a compatible difference may be locked. */
export type LockVerdict = { kind: 'same' } | { kind: 'appended' | 'raised' | 'incompatible'; text: string }

export function currentLock(): SchemaLock {
  const forms = recordTypes.map((type): [string, Form[]] => [type, fieldForms(fieldsOf(type))])
  return { dataVersion: DATA_VERSION, forms: Object.fromEntries([...forms, ['event', fieldForms(eventFields)]]) }
}

export function fieldForms(fields: readonly Field[]): Form[] {
  return fields.map(({ name, of }) => kindForm(name, of))
}

function kindForm(name: string, of: FieldKind): Form {
  switch (of.kind) {
    case 'text':
    case 'number':
    case 'flag':
      return `${name}:${of.kind}`
    case 'word':
      return [`${name}:word`, [...of.words]]
    case 'list':
      return [`${name}:list`, [kindForm('item', of.of)]]
    case 'object':
      return [`${name}:object`, fieldForms(of.fields)]
    case 'union':
      return [`${name}:union of ${of.tag}`, of.variants.map(({ word, fields }): Form => [word, fieldForms(fields)])]
  }
}

const LOCK_IT = 'Run npm run schema:lock and commit src/kernel/model/schema.lock.json.'

/** Compares the schema with the lock file. */
export function compareLocks(locked: SchemaLock, current: SchemaLock): LockVerdict {
  const { appended, changed } = differences(locked.forms, current.forms)
  if (current.dataVersion > locked.dataVersion) {
    return { kind: 'raised', text: `DATA_VERSION was raised to ${current.dataVersion}. ${LOCK_IT}` }
  }
  if (current.dataVersion < locked.dataVersion) {
    const text = `DATA_VERSION fell from ${locked.dataVersion} to ${current.dataVersion}. A data version is never used again: raise it.`
    return { kind: 'incompatible', text }
  }
  if (changed.length > 0) {
    const text = `Stored records could no longer be read: ${changed.join('; ')}. Restore the stored order and append new fields, words and variants at the end. If stored records must change, raise DATA_VERSION in src/kernel/model/schema.ts, migrate the stores, and run npm run schema:lock.`
    return { kind: 'incompatible', text }
  }
  if (appended.length > 0) {
    return {
      kind: 'appended',
      text: `Appended to the stored form, which is compatible: ${appended.join(', ')}. ${LOCK_IT}`,
    }
  }
  return { kind: 'same' }
}

interface Differences {
  readonly appended: string[]
  readonly changed: string[]
}

function differences(locked: SchemaLock['forms'], current: SchemaLock['forms']): Differences {
  const found: Differences = { appended: [], changed: [] }
  for (const [type, forms] of Object.entries(locked)) {
    const others = current[type]
    if (others === undefined) found.changed.push(`${type} is gone`)
    else compareForms(type, forms, others, found)
  }
  found.appended.push(...Object.keys(current).filter((type) => !(type in locked)))
  return found
}

function compareForms(path: string, locked: readonly Form[], current: readonly Form[], found: Differences): void {
  for (const [i, form] of locked.entries()) {
    const other = current[i]
    if (other === undefined) found.changed.push(`${path} has no ${headOf(form)}`)
    else if (headOf(other) !== headOf(form)) {
      found.changed.push(`${path} has ${headOf(other)} in the place of ${headOf(form)}`)
    } else compareForms(`${path} ${headOf(form)}`, partsOf(form), partsOf(other), found)
  }
  for (const form of current.slice(locked.length)) found.appended.push(`${path} ${headOf(form)}`)
}

function headOf(form: Form): string {
  return typeof form === 'string' ? form : form[0]
}

function partsOf(form: Form): readonly Form[] {
  return typeof form === 'string' ? [] : form[1]
}
