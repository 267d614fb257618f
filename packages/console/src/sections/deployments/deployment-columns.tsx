import './deployments.css'
import { type ReactNode, useMemo } from 'react'
import { EnvironmentBadge, Status, type StatusKind } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { type Format, useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { Age } from './age.tsx'
import {
  type BackendSummary,
  type DeploymentRow,
  type Liveness,
  type RowValues,
  summarizeBackends,
} from './deployment-rows.ts'
import { isUnderway } from './wake-list.ts'
import { useWake } from './wakes.ts'

const kinds: Record<Liveness, StatusKind> = {
  live: 'ok',
  partlyLive: 'warn',
  noneLive: 'danger',
  noneRegistered: 'off',
  asleep: 'asleep',
}

/** Returns the text for the state of the backends. */
function useLivenessText(): (summary: BackendSummary) => string {
  const t = useText()
  const { number } = useFormat()
  return ({ liveness, live, total, isComplete }) => {
    switch (liveness) {
      case 'live':
        return t('deployments.live', isComplete ? number(live) : `${number(live)}+`)
      case 'partlyLive':
        return t('deployments.partlyLive', number(live), number(total))
      case 'noneLive':
        return t('deployments.noneLive')
      case 'noneRegistered':
        return t('deployments.noneRegistered')
      case 'asleep':
        return t('deployments.asleep')
    }
  }
}

/** Whether the backends of a deployment are live, or whether the deployment is being woken. */
export function BackendStatus({ id, summary }: { id: string; summary: BackendSummary }): ReactNode {
  const t = useText()
  const describe = useLivenessText()
  const wake = useWake(id)
  if (summary.live === 0 && wake !== null && isUnderway(wake))
    return <Status kind="pending">{t('deployments.waking')}</Status>
  return <Status kind={kinds[summary.liveness]}>{describe(summary)}</Status>
}

/** The versions of the live backends. */
export function Versions({ versions }: { versions: readonly string[] }): ReactNode {
  const t = useText()
  const [first, ...others] = versions
  if (first === undefined) return <span className="muted">–</span>
  const name = first === '' ? t('deployments.versionUnknown') : first
  return (
    <span title={versions.join('\n')} className={first === '' ? 'muted' : undefined}>
      {others.length === 0 ? name : t('deployments.moreVersions', name, others.length)}
    </span>
  )
}

type ValuesOf = (values: RowValues, row: DeploymentRow) => ReactNode

/** A cell whose values arrive after the names. If they cannot be read, the page shows the failure once. */
const renderValues =
  (hasFailed: boolean, render: ValuesOf) =>
  (row: DeploymentRow): ReactNode => {
    if (row.values !== undefined) return render(row.values, row)
    return hasFailed ? '–' : <CellSkeleton />
  }

const summarize = ({ backends, specification }: RowValues): BackendSummary =>
  summarizeBackends(backends, specification?.scaleToZero === true)

const createSpecificationColumns = (
  t: Translate,
  number: Format['number'],
  hasFailed: boolean,
): readonly DataColumn<DeploymentRow>[] => [
  {
    id: 'workload',
    title: t('deployments.workload'),
    width: '2fr',
    minWidth: 144,
    priority: 3,
    render: renderValues(hasFailed, ({ specification }) =>
      specification === null ? (
        <span className="muted">{t('deployments.noSpecification')}</span>
      ) : (
        <code className="truncate">{specification.workload}</code>
      ),
    ),
  },
  {
    id: 'replicas',
    title: t('deployments.replicas'),
    align: 'end',
    width: 96,
    minWidth: 88,
    priority: 3,
    render: renderValues(hasFailed, ({ specification }) =>
      specification === null
        ? ''
        : `${number(specification.minReplicas)}–${number(specification.maxReplicas)}`,
    ),
  },
]

export function useDeploymentColumns(hasFailed: boolean): readonly DataColumn<DeploymentRow>[] {
  const t = useText()
  const { number } = useFormat()
  return useMemo(
    () => [
      {
        id: 'application',
        title: t('deployments.application'),
        sortField: 'name',
        width: '2fr',
        minWidth: 120,
        isRowHeader: true,
        priority: 1,
        render: ({ application }) => <TwoLines first={application.name} second={application.slug} />,
      },
      {
        id: 'environment',
        title: t('deployments.environment'),
        width: 120,
        minWidth: 84,
        isRowHeader: true,
        priority: 1,
        render: ({ environment }) => (
          <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
        ),
      },
      {
        id: 'backends',
        title: t('deployments.backends'),
        width: 136,
        minWidth: 116,
        priority: 1,
        render: renderValues(hasFailed, (values, { id }) => (
          <BackendStatus id={id} summary={summarize(values)} />
        )),
      },
      {
        id: 'heartbeat',
        title: t('deployments.heartbeat'),
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 2,
        render: renderValues(hasFailed, (values) => {
          const { oldestHeartbeat } = summarize(values)
          return oldestHeartbeat === null ? <span className="muted">–</span> : <Age at={oldestHeartbeat} />
        }),
      },
      {
        id: 'version',
        title: t('deployments.version'),
        width: 136,
        minWidth: 112,
        priority: 2,
        render: renderValues(hasFailed, (values) => <Versions versions={summarize(values).versions} />),
      },
      ...createSpecificationColumns(t, number, hasFailed),
    ],
    [t, number, hasFailed],
  )
}
