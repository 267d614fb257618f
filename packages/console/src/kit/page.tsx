// The layout of a section: title row, filters, content, footer, and an optional side panel next to them.
import './page.css'
import type { ReactNode } from 'react'
import { useDocumentTitle } from './document-title.ts'

export type PageProps = {
  title: string
  /** Details of the shown data, such as a count or a time range. */
  note?: ReactNode
  /** At most one primary button. */
  actions?: ReactNode
  filters?: ReactNode
  /** Does not scroll with the content; use it for pagers and save bars. */
  foot?: ReactNode
  /** A SidePanel. It reduces the width of the content. */
  panel?: ReactNode
  /** Tables extend from edge to edge; other content keeps the page margin. */
  isEdgeToEdge?: boolean
  children: ReactNode
}

export function Page({
  title,
  note,
  actions,
  filters,
  foot,
  panel,
  isEdgeToEdge = false,
  children,
}: PageProps): ReactNode {
  useDocumentTitle(title)
  return (
    <div
      className="page"
      data-panel={panel === undefined || panel === null || panel === false ? undefined : ''}
    >
      <div className="page-main">
        <header className="page-head">
          <h1 className="page-title truncate">{title}</h1>
          {note !== undefined && <div className="page-note">{note}</div>}
          <div className="page-actions">{actions}</div>
        </header>
        {filters !== undefined && <div className="page-filters">{filters}</div>}
        <div className="page-content" data-edge={isEdgeToEdge ? '' : undefined}>
          {children}
        </div>
        {foot !== undefined && foot !== false && <footer className="page-foot">{foot}</footer>}
      </div>
      {panel}
    </div>
  )
}
