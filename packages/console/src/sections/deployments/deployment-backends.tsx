// The backends that are registered for a deployment.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useProject } from '../../app/project.tsx'
import { SteadyRegion, useSteadyRows } from '../../app/steady-rows.tsx'
import { Status } from '../../kit/badge.tsx'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { Age } from './age.tsx'
import type { Backend, Deployment } from './deployment-types.ts'
import { useGoneBackends } from './gone-backends.ts'
import { useBackends } from './use-backends.ts'

export function DeploymentBackends({ deployment }: { deployment: Deployment }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const { data, error, refetch, isPlaceholderData } = useBackends(deployment, {
    limit: size,
    offset: (page - 1) * size,
  })
  const list = data?.backendsConnection
  const isComplete = page === 1 && list !== undefined && list.totalCount <= list.nodes.length
  const gone = useGoneBackends(list?.nodes, isComplete)
  const goneIds = new Set(gone.map(({ id }) => id))
  const steady = useSteadyRows(
    useMemo(() => [...(list?.nodes ?? []), ...gone], [list, gone]),
    { key: `${page} ${size}`, isPlaceholder: isPlaceholderData, isWhole: isComplete },
  )
  return (
    <Section title={t('deployments.backends')} note={list !== undefined && number(list.totalCount)}>
      {list === undefined &&
        (error === null ? (
          <Skeleton rows={6} />
        ) : (
          <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
        ))}
      {list?.nodes.length === 0 && gone.length === 0 && (
        <SectionText>{t('deployments.noBackends')}</SectionText>
      )}
      <SteadyRegion steady={steady}>
        {steady.rows.map((backend) => (
          <BackendRow
            key={backend.id}
            backend={backend}
            isGone={goneIds.has(backend.id) || steady.gone.has(backend.id)}
          />
        ))}
      </SteadyRegion>
      {list !== undefined && (list.totalCount > size || page > 1) && (
        <div className="section-pager">
          <Pager
            page={page}
            size={size}
            shown={list.nodes.length}
            total={list.totalCount}
            isTotalExact={list.isTotalExact}
            onPage={setPage}
            onSize={(next) => {
              setSize(next)
              setPage(1)
            }}
          />
        </div>
      )}
    </Section>
  )
}

const states = {
  live: { kind: 'ok', text: 'deployments.isLive', hint: 'deployments.liveHint' },
  silent: { kind: 'danger', text: 'deployments.isSilent', hint: 'deployments.silentHint' },
  gone: { kind: 'off', text: 'deployments.isGone', hint: 'deployments.goneHint' },
} as const

function BackendRow({ backend, isGone }: { backend: Backend; isGone: boolean }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { version, callbackOrigin, isLive, lastHeartbeat, registeredAt, machineUser } = backend
  const { kind, text, hint } = states[isGone ? 'gone' : isLive ? 'live' : 'silent']
  return (
    <SectionRow
      isTall
      end={
        <span className="backend-end">
          <span title={t(hint)}>
            <Status kind={kind}>{t(text)}</Status>
          </span>
          <Age at={lastHeartbeat} />
        </span>
      }
    >
      <span className="backend">
        <span className="truncate mono" title={callbackOrigin}>
          {callbackOrigin}
        </span>
        <span className="backend-second">
          <span className="truncate">{version === '' ? t('deployments.versionUnknown') : version}</span>
          <Link
            className="truncate"
            to="/p/$project/machine-users"
            params={{ project: slug }}
            search={{ open: machineUser.id } as never}
          >
            {machineUser.name}
          </Link>
          <span className="truncate">
            {t('deployments.registered')} <Time at={registeredAt} />
          </span>
        </span>
      </span>
    </SectionRow>
  )
}
