// A preview of the pilets that an application loads, for one tenant or for hosts that tenants share.
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { usePickedApplication, usePickedTenant } from '../../app/in-project.ts'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { ApplicationPicker, TenantPicker } from '../../app/object-pickers.tsx'
import { type PiletFeedResult, piletFeedDocument } from '../../generated/documents.ts'
import { Badge, Status } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'

type Item = PiletFeedResult['piletFeedPreview'][number] & { readonly id: string }
const noItems: readonly Item[] = []

/** Reads the feed of the application and the tenant in the address. */
function useFeed({ search }: ListSearch) {
  const { application: applicationId = null, tenant: tenantId = null } = search
  const application = usePickedApplication(applicationId)
  const tenant = usePickedTenant(tenantId)
  const isKnown = application.item !== undefined && (tenantId === null || tenant.item !== undefined)
  const { data, error, refetch } = useRead(
    piletFeedDocument,
    { application: applicationId ?? '', tenant: tenantId },
    { isEnabled: isKnown },
  )
  // A pilet is in a feed at most once.
  const items = useMemo(() => data?.piletFeedPreview.map((item) => ({ ...item, id: item.name })), [data])
  return { applicationId, items, error: application.error ?? tenant.error ?? error, refetch }
}

export function FeedPage({ choice, actions }: { choice: ReactNode; actions: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const { applicationId, items, error, refetch } = useFeed(list)
  return (
    <Page
      title={t('section.pilets')}
      isEdgeToEdge
      note={items !== undefined && <span className="numbers">{number(items.length)}</span>}
      actions={actions}
      filters={
        <>
          {choice}
          <FeedPickers list={list} />
        </>
      }
    >
      <DataTable
        label={t('pilets.view.feed')}
        columns={useFeedColumns()}
        rows={error === null ? (items ?? noItems) : noItems}
        placeholder={
          applicationId === null ? (
            <State icon="pilets" title={t('pilets.chooseApplication')}>
              {t('pilets.feedHint')}
            </State>
          ) : error !== null ? (
            <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
          ) : items === undefined ? (
            <Skeleton rows={8} />
          ) : (
            <State icon="pilets" title={t('pilets.emptyFeed')}>
              {t('pilets.emptyFeedHint')}
            </State>
          )
        }
      />
    </Page>
  )
}

function FeedPickers({ list: { search, setFilter } }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { application = null, tenant = null } = search
  return (
    <div className="pilets-pickers">
      <ApplicationPicker
        label={t('settings.layer.application')}
        id={application}
        onChange={(id) => setFilter({ application: id })}
      />
      <TenantPicker
        label={t('settings.layer.tenant')}
        id={tenant}
        onChange={(id) => setFilter({ tenant: id })}
      />
      {tenant !== null && (
        <Button onPress={() => setFilter({ tenant: undefined })}>{t('pilets.sharedHosts')}</Button>
      )}
    </div>
  )
}

function useFeedColumns(): readonly DataColumn<Item>[] {
  const t = useText()
  return useMemo(
    () => [
      {
        id: 'name',
        title: t('pilets.name'),
        width: '2fr',
        minWidth: 136,
        isRowHeader: true,
        priority: 1,
        render: ({ name }) => (
          <span className="truncate" title={name}>
            {name}
          </span>
        ),
      },
      {
        id: 'version',
        title: t('pilets.version'),
        minWidth: 96,
        priority: 1,
        render: ({ version }) => <code className="truncate">{version}</code>,
      },
      {
        id: 'origin',
        title: t('pilets.reason'),
        minWidth: 136,
        priority: 2,
        render: ({ origin }) =>
          origin === 'pin' ? (
            <Badge tone="accent">{t('pilets.reason.pin')}</Badge>
          ) : (
            <span className="truncate">{t('pilets.reason.highest')}</span>
          ),
      },
      {
        id: 'signature',
        title: t('pilets.signature'),
        minWidth: 168,
        priority: 2,
        render: ({ keyId }) =>
          keyId === null ? (
            <Status kind="danger">{t('pilets.unsigned')}</Status>
          ) : (
            <span className="pilets-signature">
              <Status kind="ok">{t('pilets.signed')}</Status>
              <code className="muted truncate" title={keyId}>
                {keyId}
              </code>
            </span>
          ),
      },
      {
        id: 'spec',
        title: t('pilets.spec'),
        width: 80,
        minWidth: 72,
        priority: 3,
        render: ({ spec }) => spec,
      },
      {
        id: 'hash',
        title: 'SHA-256',
        minWidth: 168,
        priority: 3,
        render: ({ hash }) => <Id value={hash} />,
      },
    ],
    [t],
  )
}
