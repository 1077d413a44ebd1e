/** Choices of forms. */

export function Choice<Value extends string>(props: {
  readonly name: string
  readonly words: Readonly<Record<Value, string>>
  readonly initial: Value
  readonly onChoose?: (value: Value) => void
}) {
  const { name, words, initial, onChoose } = props
  const values = Object.keys(words) as Value[]
  return (
    <select
      name={name}
      defaultValue={initial}
      onChange={({ target }) => onChoose?.(values.find((value) => value === target.value) ?? initial)}
    >
      {values.map((value) => (
        <option key={value} value={value}>
          {words[value]}
        </option>
      ))}
    </select>
  )
}

/** Returns the chosen value of a field. */
export function chosenOf<Value extends string>(
  fields: FormData,
  name: string,
  words: Readonly<Record<Value, string>>,
): Value | undefined {
  return (Object.keys(words) as Value[]).find((value) => value === fields.get(name))
}

const ZONES_ID = 'time-zones'

/** A text that may be any zone that the browser knows, and others. The server has the last word. */
export function ZoneInput({ initial }: { readonly initial?: string | undefined }) {
  return (
    <>
      <input name="timeZone" list={ZONES_ID} maxLength={256} placeholder="UTC" defaultValue={initial} />
      <datalist id={ZONES_ID}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}
