/** Asks for the value of a signal: field by field if the server knows its schema, else as JSON. */
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import type { FormField, SignalForm } from '../api/types.ts'
import { Field, jsonOf, textOf } from './dialog.tsx'
import { Loading } from './views.tsx'
import { visible } from './visible-text.ts'

const PREFIX = 'value.'

/** The fields of a value. Without a form, the value is asked for as JSON. */
interface ValueFields {
  readonly form: SignalForm | undefined
  readonly isLoading: boolean
}

/** Contracts are part of a program, so they stay while the page is open. */
export function useSignalForm(task: string, name: string): ValueFields {
  const query = useQuery({
    queryKey: ['forms', task],
    queryFn: ({ signal }) => call('listForms', { query: { task }, signal }),
    staleTime: Infinity,
  })
  return { form: query.data?.items.find((form) => form.name === name), isLoading: query.isPending }
}

export function SignalValue({ fields: { form, isLoading } }: { readonly fields: ValueFields }) {
  if (isLoading) return <Loading label="Loading the fields" />
  if (form === undefined) {
    return (
      <Field label="Value (optional)" hint='JSON, such as {"note": "as agreed"}.'>
        <textarea name="value" rows={4} className="mono" />
      </Field>
    )
  }
  return Object.entries(form.properties).map(([name, field]) => (
    <ValueField key={name} name={name} field={field} isRequired={form.required.includes(name)} />
  ))
}

function ValueField(props: { readonly name: string; readonly field: FormField; readonly isRequired: boolean }) {
  const { name, field, isRequired } = props
  const label = `${visible(field.title ?? name)}${isRequired || field.type === 'boolean' ? '' : ' (optional)'}`
  const given =
    typeof field.default === 'string' || typeof field.default === 'number' ? String(field.default) : undefined
  const common = { name: `${PREFIX}${name}`, required: isRequired, defaultValue: given }
  if (field.type === 'boolean') {
    return (
      <label className="check">
        <input type="checkbox" name={common.name} defaultChecked={field.default === true} /> {label}
      </label>
    )
  }
  const hint = field.description === undefined ? {} : { hint: visible(field.description) }
  return (
    <Field label={label} {...hint}>
      <ValueInput field={field} common={common} />
    </Field>
  )
}

function ValueInput(props: {
  readonly field: FormField
  readonly common: { readonly name: string; readonly required: boolean; readonly defaultValue: string | undefined }
}) {
  const { field, common } = props
  const { minimum, maximum, minLength, maxLength, type, format } = field
  if (field.enum !== undefined) {
    return (
      <select {...common}>
        {!common.required && <option value="">none</option>}
        {field.enum.map((each) => (
          <option key={each} value={each}>
            {visible(each)}
          </option>
        ))}
      </select>
    )
  }
  if (type === 'string') {
    return <input {...common} type={inputTypeOf(format)} minLength={minLength} maxLength={maxLength} />
  }
  return <input {...common} type="number" min={minimum} max={maximum} step={type === 'integer' ? 1 : 'any'} />
}

function inputTypeOf(format: string | undefined): string {
  if (format === 'email' || format === 'date') return format
  return format === 'uri' ? 'url' : 'text'
}

/** Returns what was filled in. Undefined without a value. */
export function signalValueOf(form: SignalForm | undefined, fields: FormData): unknown {
  if (form === undefined) return jsonOf(fields, 'value')
  const values = Object.entries(form.properties).flatMap(([name, field]) => {
    const value = valueIn(field, fields, `${PREFIX}${name}`)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}

function valueIn(field: FormField, fields: FormData, name: string): unknown {
  if (field.type === 'boolean') return fields.has(name)
  const text = textOf(fields, name)
  if (text === undefined) return undefined
  if (field.enum !== undefined) return field.enum.find((each) => each === text)
  return field.type === 'string' ? text : Number(text)
}
