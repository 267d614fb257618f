// The details of a version, next to the list.
import { GraphqlError } from '@manager/client'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { piletDetailDocument } from '../../generated/documents.ts'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { type TabItem, Tabs } from '../../kit/tabs.tsx'
import { Id } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { PiletActions } from './pilet-actions.tsx'
import { isId } from './pilet-filters.ts'
import { PiletSummary } from './pilet-summary.tsx'
import type { PiletVersion } from './pilet-types.ts'
import { PiletUsage } from './pilet-usage.tsx'
import { PiletVersions } from './pilet-versions.tsx'

const missing = new GraphqlError([
  { message: 'the project has no such version', extensions: { code: 'not_found' } },
])

/** Reads a version of the project by its id. */
function useVersion(id: string) {
  const project = useProject()
  const isReadable = isId(id)
  const { data, error, refetch } = useRead(
    piletDetailDocument,
    { project: project.id, id },
    { isEnabled: isReadable },
  )
  const version = data?.piletPackagesConnection.nodes[0]
  const isMissing = !isReadable || (data !== undefined && version === undefined)
  return { version, error: isMissing ? missing : error, refetch }
}

type PiletPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function PiletPanel({ id, ids, list }: PiletPanelProps): ReactNode {
  const t = useText()
  const { version, error, refetch } = useVersion(id)
  const tab = list.search['tab']
  const keepTab = tab === undefined ? {} : { tab }
  return (
    <SidePanel
      title={version?.name ?? t('pilets.one')}
      subtitle={
        version !== undefined && (
          <>
            <code className="truncate">{version.version}</code>
            <span aria-hidden="true">·</span>
            <Id value={version.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, keepTab)} />}
      foot={version !== undefined && <PiletActions version={version} />}
      onClose={() => list.setOpen(null)}
    >
      {version !== undefined ? (
        <PanelTabs version={version} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </SidePanel>
  )
}

function PanelTabs({ version, list }: { version: PiletVersion; list: ListSearch }): ReactNode {
  const t = useText()
  const openTab = (tab: string): void => list.setOpen(version.id, tab === 'summary' ? {} : { tab })
  const items: readonly TabItem[] = [
    { id: 'summary', title: t('app.summary'), content: <PiletSummary version={version} /> },
    { id: 'usage', title: t('pilets.usage'), content: <PiletUsage version={version} /> },
    {
      id: 'versions',
      title: t('pilets.versions'),
      content: <PiletVersions version={version} onOpen={(id) => list.setOpen(id, { tab: 'versions' })} />,
    },
  ]
  const selected = items.find(({ id }) => id === list.search['tab'])?.id ?? 'summary'
  return <Tabs label={version.name} items={items} selected={selected} onSelect={openTab} />
}
