// The details of an application, next to the list.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { useInProject } from '../../app/in-project.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useCan } from '../../app/project.tsx'
import { applicationDetailDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { type TabItem, Tabs } from '../../kit/tabs.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ObjectReach } from '../reach/reach-list.tsx'
import { useApplicationCounts } from './application-counts.ts'
import { DeleteApplication } from './application-delete.tsx'
import { ApplicationDialog } from './application-dialog.tsx'
import {
  ApplicationBackends,
  ApplicationEndpoints,
  ApplicationMembers,
  ApplicationTenants,
} from './application-lists.tsx'
import { ApplicationSummary } from './application-summary.tsx'
import type { Application } from './application-types.ts'

type ApplicationPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function ApplicationPanel({ id, ids, list }: ApplicationPanelProps): ReactNode {
  const t = useText()
  const { data, error: failure, refetch } = useRead(applicationDetailDocument, { id })
  const { item: application, error } = useInProject(
    data?.applicationById,
    data?.applicationById.project.id,
    failure,
  )
  const tab = list.search['tab']
  const keepTab = tab === undefined ? {} : { tab }
  return (
    <SidePanel
      title={application?.name ?? t('applications.one')}
      subtitle={
        application !== undefined && (
          <>
            <code className="truncate">{application.slug}</code>
            <span aria-hidden="true">·</span>
            <Id value={application.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, keepTab)} />}
      foot={application !== undefined && <Foot application={application} list={list} />}
      onClose={() => list.setOpen(null)}
    >
      {application !== undefined ? (
        <PanelTabs application={application} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </SidePanel>
  )
}

function PanelTabs({ application, list }: { application: Application; list: ListSearch }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { id, name, myPermissions } = application
  const counts = useApplicationCounts([application]).data?.get(id)
  const count = (value: number | undefined) => (value === undefined ? {} : { count: number(value) })
  const openTab = (tab: string): void => list.setOpen(id, tab === 'summary' ? {} : { tab })
  const isShown: Readonly<Record<string, boolean>> = {
    tenants: useCan('TENANT2APPLICATION_READ'),
    members: myPermissions.includes('APPLICATION_MEMBER_READ'),
    access: myPermissions.includes('ACCESS_READ'),
    backends: myPermissions.includes('BACKEND_READ'),
    endpoints: myPermissions.includes('ENDPOINT_READ') && myPermissions.includes('TRIGGER_READ'),
  }
  const items: readonly TabItem[] = [
    {
      id: 'summary',
      title: t('app.summary'),
      content: <ApplicationSummary application={application} onTab={openTab} />,
    },
    {
      id: 'tenants',
      title: t('section.tenants'),
      ...count(counts?.tenants.totalCount),
      content: <ApplicationTenants id={id} />,
    },
    { id: 'members', title: t('section.members'), content: <ApplicationMembers id={id} /> },
    { id: 'access', title: t('reach.who'), content: <ObjectReach kind="application" id={id} /> },
    {
      id: 'backends',
      title: t('applications.backends'),
      ...count(counts?.backends.length),
      content: <ApplicationBackends id={id} />,
    },
    {
      id: 'endpoints',
      title: t('applications.endpoints'),
      ...count(counts?.endpoints.totalCount),
      content: <ApplicationEndpoints id={id} />,
    },
  ]
  const shown = items.filter((item) => isShown[item.id] ?? true)
  const selected = shown.find((item) => item.id === list.search['tab'])?.id ?? 'summary'
  return <Tabs label={name} items={shown} selected={selected} onSelect={openTab} />
}

function Foot({ application, list }: { application: Application; list: ListSearch }): ReactNode {
  const t = useText()
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  const canEdit = may(application, 'applications.edit')
  const canDelete = may(application, 'applications.delete')
  if (!canEdit && !canDelete) return <span className="muted">{t('applications.readOnly')}</span>
  return (
    <>
      {canEdit && (
        <Button action="applications.edit" onPress={() => setDialog('edit')}>
          {t('kit.edit')}
        </Button>
      )}
      <span className="side-panel-foot-end">
        {canDelete && (
          <Button
            variant="quietDanger"
            icon="delete"
            action="applications.delete"
            onPress={() => setDialog('delete')}
          >
            {t('kit.delete')}
          </Button>
        )}
      </span>
      {dialog === 'edit' && <ApplicationDialog application={application} onClose={close} onSaved={close} />}
      {dialog === 'delete' && (
        <DeleteApplication application={application} onClose={close} onDeleted={() => list.setOpen(null)} />
      )}
    </>
  )
}
