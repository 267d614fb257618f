// A box around one subject, on pages with several subjects.
import type { ReactNode } from 'react'
import './card.css'

type CardProps = { title: string; link?: ReactNode; children: ReactNode }

export const Card = ({ title, link, children }: CardProps): ReactNode => (
  <section className="card" aria-label={title}>
    <header className="card-head">
      <h2 className="card-title truncate">{title}</h2>
      {link}
    </header>
    {children}
  </section>
)
