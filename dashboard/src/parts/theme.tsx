/** Light, dark, or as the system prefers. The choice is kept in this browser. */
import { useEffect, useState } from 'react'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const KEY = 'flowfabric.theme'

function stored(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}

export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(stored)
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
    try {
      localStorage.setItem(KEY, theme)
    } catch {
      // A browser that stores nothing forgets the choice.
    }
  }, [theme])
  return (
    <label className="theme">
      <span className="visually-hidden">Colours</span>
      <select
        value={theme}
        onChange={(event) => setTheme(themes.find((each) => each === event.target.value) ?? 'system')}
      >
        <option value="system">System colours</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  )
}
