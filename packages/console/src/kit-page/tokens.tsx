import type { ReactNode } from 'react'

const names = [
  'canvas',
  'surface',
  'raised',
  'hover',
  'border',
  'border-strong',
  'text',
  'text-2',
  'text-3',
  'accent',
  'accent-text',
  'accent-tint',
  'on-accent',
  'focus',
  'inverse',
  'on-inverse',
  'idle',
  'ok',
  'ok-text',
  'ok-tint',
  'warn',
  'warn-text',
  'warn-tint',
  'danger',
  'danger-text',
  'danger-tint',
  'danger-fill',
  'info',
  'info-text',
  'info-tint',
]

/** Every color of the current theme. */
export const Tokens = (): ReactNode => (
  <ul className="kit-tokens">
    {names.map((name) => (
      <li key={name} className="kit-token">
        <span className="kit-swatch" style={{ background: `var(--${name})` }} />
        {name}
      </li>
    ))}
  </ul>
)
