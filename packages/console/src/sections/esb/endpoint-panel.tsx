// The details of an endpoint beside the list.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useCan } from '../../app/project.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { type TabItem, Tabs } from '../../kit/tabs.tsx'
import { Id } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { EndpointAccess } from './endpoint-access.tsx'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointSummary } from './endpoint-summary.tsx'
import type { Endpoint } from './endpoint-types.ts'
import { useEndpoint } from './use-endpoint.ts'

type EndpointPanelProps = {
  id: string
  /** The application of the endpoint, if the list contains the endpoint. */
  applicationId: string | undefined
  ids: readonly string[]
  list: ListSearch
}

export function EndpointPanel({ id, applicationId, ids, list }: EndpointPanelProps): ReactNode {
  const t = useText()
  const { endpoint, error, refetch } = useEndpoint(id, applicationId)
  const tab = list.search['tab']
  const keepTab = tab === undefined ? {} : { tab }
  return (
    <SidePanel
      title={endpoint?.name ?? t('esb.one')}
      subtitle={
        endpoint !== undefined && (
          <>
            <code className="truncate">{endpoint.consumeURL}</code>
            <span aria-hidden="true">·</span>
            <Id value={endpoint.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, keepTab)} />}
      foot={
        endpoint !== undefined && <EndpointActions endpoint={endpoint} onDeleted={() => list.setOpen(null)} />
      }
      onClose={() => list.setOpen(null)}
    >
      {endpoint !== undefined ? (
        <PanelTabs endpoint={endpoint} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      )}
    </SidePanel>
  )
}

function PanelTabs({ endpoint, list }: { endpoint: Endpoint; list: ListSearch }): ReactNode {
  const t = useText()
  const openTab = (tab: string): void => list.setOpen(endpoint.id, tab === 'summary' ? {} : { tab })
  const items: readonly TabItem[] = [
    { id: 'summary', title: t('app.summary'), content: <EndpointSummary endpoint={endpoint} /> },
    ...(useCan('ENDPOINT_ACCESS_READ')
      ? [{ id: 'access', title: t('esb.access'), content: <EndpointAccess endpoint={endpoint} /> }]
      : []),
  ]
  const selected = items.find(({ id }) => id === list.search['tab'])?.id ?? 'summary'
  return <Tabs label={endpoint.name} items={items} selected={selected} onSelect={openTab} />
}
