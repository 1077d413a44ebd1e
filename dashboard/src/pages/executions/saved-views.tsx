/** Filters with names. They are kept in this browser; the address of a view can be sent to others. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ActionDialog, Field, textOf } from '../../parts/dialog.tsx'
import { Text } from '../../parts/text.tsx'

const KEY = 'flowfabric.views.executions'
const VIEWS_MAX = 30
const NAME_MAX = 40

type Search = Readonly<Record<string, string>>

interface View {
  readonly name: string
  readonly search: Search
}

export function SavedViews({ search }: { readonly search: Search }) {
  const [views, setViews] = useState(readViews)
  const [isSaving, setSaving] = useState(false)
  const change = (next: readonly View[]) => {
    setViews(next)
    storeViews(next)
  }
  const current = JSON.stringify(Object.entries(search).sort())
  const shown = views.find((view) => JSON.stringify(Object.entries(view.search).sort()) === current)
  const hasFilter = Object.keys(search).length > 0
  if (views.length === 0 && !hasFilter) return null
  return (
    <div className="states" role="group" aria-label="Saved views">
      {views.map((view) => (
        <Link
          key={view.name}
          to="/executions"
          search={view.search}
          className="chip view-chip"
          aria-current={view === shown ? 'true' : undefined}
        >
          <Text>{view.name}</Text>
        </Link>
      ))}
      {hasFilter && shown === undefined && (
        <button type="button" className="plain" onClick={() => setSaving(true)}>
          Save this view
        </button>
      )}
      {shown !== undefined && (
        <button type="button" className="plain" onClick={() => change(views.filter((view) => view !== shown))}>
          Forget this view
        </button>
      )}
      {isSaving && (
        <ActionDialog
          title="Save these filters"
          verb="Save the view"
          act={(form) => {
            const name = textOf(form, 'name') ?? ''
            const others = views.filter((view) => view.name !== name)
            if (others.length >= VIEWS_MAX) throw new Error(`At most ${VIEWS_MAX} views are kept. Forget one first.`)
            change([...others, { name, search }])
            return Promise.resolve()
          }}
          onClose={() => setSaving(false)}
        >
          <Field label="Name" hint="Kept in this browser.">
            <input name="name" required maxLength={NAME_MAX} />
          </Field>
        </ActionDialog>
      )}
    </div>
  )
}

/** What a person or another version of the page has stored may be anything. */
function readViews(): readonly View[] {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '[]') as unknown
    return Array.isArray(stored) ? stored.filter(isView).slice(0, VIEWS_MAX) : []
  } catch {
    return []
  }
}

function isView(value: unknown): value is View {
  if (typeof value !== 'object' || value === null) return false
  const { name, search } = value as Partial<View>
  if (typeof name !== 'string' || typeof search !== 'object') return false
  return Object.values(search).every((each) => typeof each === 'string')
}

function storeViews(views: readonly View[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(views))
  } catch {
    // A browser that stores nothing forgets them with the page.
  }
}
