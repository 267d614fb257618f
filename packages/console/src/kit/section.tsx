// A titled part of a panel. Lines separate its rows.
import './section.css'
import type { ReactNode } from 'react'

type SectionProps = {
  title: string
  /** A number or a hint next to the title. */
  note?: ReactNode
  /** A link or a small button on the right. */
  action?: ReactNode
  children: ReactNode
}

export const Section = ({ title, note, action, children }: SectionProps): ReactNode => (
  <section className="section" aria-label={title}>
    <div className="section-head">
      <h3 className="section-title">{title}</h3>
      {note !== undefined && <span className="section-note numbers">{note}</span>}
      {action !== undefined && <div className="section-action">{action}</div>}
    </div>
    {children}
  </section>
)

type SectionRowProps = { children: ReactNode; end?: ReactNode; isTall?: boolean }

export const SectionRow = ({ children, end, isTall = false }: SectionRowProps): ReactNode => (
  <div className="section-row" data-tall={isTall ? '' : undefined}>
    <div className="section-row-main">{children}</div>
    {end !== undefined && <div className="section-row-end">{end}</div>}
  </div>
)

/** A sentence that is shown instead of rows. */
export const SectionText = ({ children }: { children: ReactNode }): ReactNode => (
  <p className="section-text">{children}</p>
)
