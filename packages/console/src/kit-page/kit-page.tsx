// Shows every component in its states. The page exists only in development, where the tests of the kit open it. Its
// texts are samples, so they are not translated.
import './kit-page.css'
import { type ReactNode, useState } from 'react'
import { Badge, EnvironmentBadge, Status } from '../kit/badge.tsx'
import { Button, IconButton } from '../kit/button.tsx'
import { CodeView, DiffView } from '../kit/code.tsx'
import { Note } from '../kit/note.tsx'
import { Page } from '../kit/page.tsx'
import { Segments, Tabs } from '../kit/tabs.tsx'
import { showToast } from '../kit/toast.tsx'
import { Avatar, Facts, Id, Time } from '../kit/values.tsx'
import { SampleDialogs } from './sample-dialogs.tsx'
import { SampleFilters } from './sample-filters.tsx'
import { SampleForm } from './sample-form.tsx'
import { SampleStates } from './sample-states.tsx'
import { SampleTable } from './sample-table.tsx'
import { Tokens } from './tokens.tsx'

const threeHoursAgo = new Date(Date.now() - 3 * 3_600_000).toISOString()
const id = '01a1dce9-d14b-710f-8f2a-5c1f9be20ecb'

export const KitPage = (): ReactNode => (
  <Page title="Kit" note="Tokens and components in all states">
    <div className="kit">
      <Block title="Colors">
        <Tokens />
      </Block>
      <Block title="Buttons">
        <Buttons />
      </Block>
      <Block title="Badges and status">
        <Badges />
      </Block>
      <Block title="Inputs">
        <SampleForm />
      </Block>
      <Block title="Filters">
        <SampleFilters />
      </Block>
      <Block title="Table">
        <SampleTable />
      </Block>
      <Block title="Tabs and segments">
        <Choices />
      </Block>
      <Block title="Notes and toasts">
        <Notes />
      </Block>
      <Block title="Values">
        <Facts
          items={[
            { label: 'Time', value: <Time at={threeHoursAgo} /> },
            { label: 'Never', value: <Time at={null} /> },
            { label: 'Id', value: <Id value={id} /> },
            { label: 'Person', value: <Avatar name="Anna Vogt" /> },
          ]}
        />
      </Block>
      <Block title="Code and differences">
        <CodeView
          label="Template"
          text={'{\n  "id": "{{ .body.id }}",\n  "lines": {{ toJson .body.lines }}\n}'}
        />
        <DiffView
          label="Changes"
          changes={[
            { field: 'support.mail', before: 'help@acme.example', after: 'mail@acme.example' },
            { field: 'theme', before: null, after: 'dark' },
            { field: 'legacy', before: 'true', after: null },
            { field: 'file', before: 'invoice.pdf', after: 'invoice\u202efdp.exe', note: 'reordered' },
            { field: 'erp.clientSecret', before: '[secret]', after: '[secret]', note: 'never recorded' },
          ]}
        />
      </Block>
      <Block title="Dialogs">
        <SampleDialogs />
      </Block>
      <Block title="States">
        <SampleStates />
      </Block>
    </div>
  </Page>
)

const Block = ({ title, children }: { title: string; children: ReactNode }): ReactNode => (
  <section className="kit-block" aria-label={title}>
    <h2 className="kit-title">{title}</h2>
    {children}
  </section>
)

const Buttons = (): ReactNode => (
  <div className="kit-row">
    <Button variant="primary">Primary</Button>
    <Button>Default</Button>
    <Button variant="quiet">Quiet</Button>
    <Button variant="danger" icon="delete">
      Delete
    </Button>
    <Button disabledReason="Only owners can do this">Disabled</Button>
    <Button isPending>Pending</Button>
    <Button size="small" icon="add">
      Small
    </Button>
    <IconButton icon="more" label="More" />
    <IconButton icon="copy" size="small" label="Copy" />
  </div>
)

const Badges = (): ReactNode => (
  <>
    <div className="kit-row">
      <Badge tone="ok" icon="check">
        Enabled
      </Badge>
      <Badge tone="warn" icon="warning">
        Missed
      </Badge>
      <Badge tone="danger" icon="cross">
        502
      </Badge>
      <Badge tone="info" icon="clock">
        Pending
      </Badge>
      <Badge>Off</Badge>
      <Badge tone="outline">dedicated</Badge>
      <Badge tone="accent">edited</Badge>
      <EnvironmentBadge name="dev" isProtected={false} />
      <EnvironmentBadge name="run" isProtected />
    </div>
    <div className="kit-row">
      <Status kind="ok">3 live</Status>
      <Status kind="warn">1 of 2 live</Status>
      <Status kind="danger">0 of 1 live</Status>
      <Status kind="off">None</Status>
      <Status kind="pending">Pending</Status>
      <Status kind="asleep">Asleep</Status>
    </div>
  </>
)

function Choices(): ReactNode {
  const [tab, setTab] = useState('calls')
  const [range, setRange] = useState('24h')
  return (
    <>
      <Tabs
        label="Endpoint"
        selected={tab}
        onSelect={setTab}
        items={[
          { id: 'calls', title: 'Calls', count: '463', content: 'Content of calls' },
          { id: 'access', title: 'Access', count: '3', content: 'Content of access' },
        ]}
      />
      <Segments
        label="Range"
        selected={range}
        onSelect={setRange}
        items={[
          { id: '1h', text: '1 h' },
          { id: '24h', text: '24 h' },
          { id: '7d', text: '7 d' },
        ]}
      />
    </>
  )
}

const Notes = (): ReactNode => (
  <>
    <Note tone="info">A preview sends and saves nothing.</Note>
    <Note tone="warn">Every member can read bodies while the level is FULL.</Note>
    <Note tone="danger">Not saved: the slug is taken.</Note>
    <Note tone="ok">The chain is complete.</Note>
    <div className="kit-row">
      <Button onPress={() => showToast('Enabled Claims for 3 tenants')}>Show a toast</Button>
      <Button onPress={() => showToast('Disabled Claims', { undo: { label: 'Undo', run: () => undefined } })}>
        Show a toast with undo
      </Button>
    </div>
  </>
)
