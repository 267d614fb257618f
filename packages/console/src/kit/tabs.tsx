// Tabs whose selection is part of the address; the caller renders the selected content.
import './tabs.css'
import type { ReactNode } from 'react'
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components'

export type TabItem = {
  readonly id: string
  readonly title: string
  readonly count?: string
  readonly content: ReactNode
  /** Content that extends from edge to edge and scrolls by itself, such as a table on a page. */
  readonly isEdgeToEdge?: boolean
}

type TabsProps = {
  label: string
  items: readonly TabItem[]
  selected: string
  onSelect: (id: string) => void
}

export const Tabs = ({ label, items, selected, onSelect }: TabsProps): ReactNode => (
  <AriaTabs className="tabs" selectedKey={selected} onSelectionChange={(key) => onSelect(String(key))}>
    <TabList className="tab-list" aria-label={label}>
      {items.map(({ id, title, count }) => (
        <Tab key={id} id={id} className="tab">
          {title}
          {count !== undefined && <span className="tab-count">{count}</span>}
        </Tab>
      ))}
    </TabList>
    {items.map(({ id, content, isEdgeToEdge = false }) => (
      <TabPanel key={id} id={id} className="tab-panel" data-edge={isEdgeToEdge ? '' : undefined}>
        {content}
      </TabPanel>
    ))}
  </AriaTabs>
)

type SegmentsProps = {
  label: string
  items: readonly { id: string; text: string }[]
  selected: string
  onSelect: (id: string) => void
}

/** A choice between two to four views, such as `1 h`, `24 h` and `7 d`. */
export const Segments = ({ label, items, selected, onSelect }: SegmentsProps): ReactNode => (
  <div className="segments" role="group" aria-label={label}>
    {items.map(({ id, text }) => (
      <button
        key={id}
        type="button"
        className="segment"
        aria-pressed={id === selected}
        onClick={() => onSelect(id)}
      >
        {text}
      </button>
    ))}
  </div>
)
