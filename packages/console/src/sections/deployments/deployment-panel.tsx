// The details of a deployment, next to the list.
import { GraphqlError } from '@manager/client'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useInProject } from '../../app/in-project.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { deploymentDetailDocument } from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { type TabItem, Tabs } from '../../kit/tabs.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { DeploymentActions } from './deployment-actions.tsx'
import { DeploymentBackends } from './deployment-backends.tsx'
import { parseDeploymentId } from './deployment-rows.ts'
import { DeploymentSummary } from './deployment-summary.tsx'
import type { Deployment } from './deployment-types.ts'
import { type Readiness, useReadiness } from './use-readiness.ts'

const noEnvironment = new GraphqlError([
  { message: 'the environment does not exist', extensions: { code: 'not_found' } },
])

/** Reads the deployment that the address names. */
function useDeployment(id: string) {
  const { applicationId, environment: name } = parseDeploymentId(id)
  const environment = useProject().environments.find((each) => each.name === name)
  const read = useRead(deploymentDetailDocument, { application: applicationId })
  const { item: application, error } = useInProject(
    read.data?.applicationById,
    read.data?.applicationById.project.id,
    read.error,
  )
  const deployment: Deployment | undefined =
    application === undefined || environment === undefined
      ? undefined
      : {
          id,
          application,
          environment,
          specification:
            read.data?.deploymentSpecifications.find((each) => each.environment.id === environment.id) ??
            null,
        }
  return {
    deployment,
    error: environment === undefined ? noEnvironment : error,
    refetch: read.refetch,
  }
}

type DeploymentPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function DeploymentPanel({ id, ids, list }: DeploymentPanelProps): ReactNode {
  const t = useText()
  const { deployment, error, refetch } = useDeployment(id)
  const readiness = useReadiness(id, deployment)
  const tab = list.search['tab']
  const keepTab = tab === undefined ? {} : { tab }
  return (
    <SidePanel
      title={deployment?.application.name ?? t('deployments.one')}
      subtitle={
        deployment !== undefined && (
          <>
            <EnvironmentBadge
              name={deployment.environment.name}
              isProtected={deployment.environment.protected}
            />
            <code className="truncate">{deployment.application.slug}</code>
            <span aria-hidden="true">·</span>
            <Id value={deployment.application.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, keepTab)} />}
      foot={
        deployment !== undefined && (
          <DeploymentActions
            deployment={deployment}
            readiness={readiness}
            // The progress is part of the summary.
            onWake={() => list.setOpen(id)}
          />
        )
      }
      onClose={() => list.setOpen(null)}
    >
      {deployment !== undefined ? (
        <PanelTabs deployment={deployment} readiness={readiness} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </SidePanel>
  )
}

type PanelTabsProps = { deployment: Deployment; readiness: Readiness | undefined; list: ListSearch }

function PanelTabs({ deployment, readiness, list }: PanelTabsProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { id } = deployment
  const openTab = (tab: string): void => list.setOpen(id, tab === 'summary' ? {} : { tab })
  const items: readonly TabItem[] = [
    {
      id: 'summary',
      title: t('app.summary'),
      content: <DeploymentSummary deployment={deployment} readiness={readiness} onTab={openTab} />,
    },
    {
      id: 'backends',
      title: t('deployments.backends'),
      ...(readiness === undefined ? {} : { count: number(readiness.backends) }),
      content: <DeploymentBackends deployment={deployment} />,
    },
  ]
  const selected = items.find((item) => item.id === list.search['tab'])?.id ?? 'summary'
  return <Tabs label={deployment.application.name} items={items} selected={selected} onSelect={openTab} />
}
