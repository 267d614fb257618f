// The backends of every application in every environment, in one table.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useProject } from '../../app/project.tsx'
import { EnvironmentBadge, Status, type StatusKind } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { FailureNote, Skeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import type { BackendCell, BackendRow, Backends } from './backends.ts'

export function BackendsCard({ backends }: { backends: Backends }): ReactNode {
  const t = useText()
  const { rows, environments, hidden, error, retry } = backends
  return (
    <Card title={t('overview.backends')}>
      {error !== null && <FailureNote failure={describeFailure(error)} onRetry={retry} />}
      {rows === null && error === null && <Skeleton rows={5} />}
      {rows?.length === 0 && <p className="card-note">{t('overview.noApplications')}</p>}
      {rows !== null && rows.length > 0 && (
        <table className="overview-table">
          <thead>
            <tr>
              <th scope="col">{t('overview.application')}</th>
              {environments.map(({ id, name, protected: isProtected }) => (
                <th key={id} scope="col">
                  <EnvironmentBadge name={name} isProtected={isProtected} />
                </th>
              ))}
              <th scope="col" className="end wide-only">
                {t('overview.oldestHeartbeat')}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.id} row={row} columns={environments.length} />
            ))}
          </tbody>
        </table>
      )}
      {hidden > 0 && <p className="card-note">{t('overview.hiddenApplications', hidden)}</p>}
    </Card>
  )
}

function Row({ row, columns }: { row: BackendRow; columns: number }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  return (
    <tr>
      <th scope="row">
        <Link
          to="/p/$project/applications"
          params={{ project: slug }}
          search={{ open: row.id } as never}
          className="row-link truncate"
        >
          {row.name}
        </Link>
      </th>
      {row.cells === null ? (
        <td colSpan={columns}>
          <span className="skeleton-bar" role="status" aria-label={t('kit.loading')} />
        </td>
      ) : (
        row.cells.map((cell) => (
          <td key={cell.environment.id}>
            <CellStatus cell={cell} />
          </td>
        ))
      )}
      <td className="end muted wide-only">
        {row.oldestHeartbeat === null ? '–' : <Time at={row.oldestHeartbeat} />}
      </td>
    </tr>
  )
}

function findKind({ live, total }: BackendCell): StatusKind {
  if (total === 0) return 'off'
  if (live === 0) return 'danger'
  return live < total ? 'warn' : 'ok'
}

function CellStatus({ cell }: { cell: BackendCell }): ReactNode {
  const t = useText()
  const { live, total, isAsleep } = cell
  if (isAsleep) return <Status kind="asleep">{t('overview.asleep')}</Status>
  if (total === 0) return <Status kind="off">{t('overview.none')}</Status>
  return (
    <Status kind={findKind(cell)}>
      <span className="wide-only">
        {live === total ? t('overview.live', live) : t('overview.partlyLive', live, total)}
      </span>
      <span className="narrow-only">{live === total ? live : `${live}/${total}`}</span>
    </Status>
  )
}
