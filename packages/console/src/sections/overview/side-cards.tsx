// Tokens to renew and the last changes, next to the tables of the overview.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useNow } from '../../app/now.ts'
import { useCan, useProject } from '../../app/project.tsx'
import { overviewChangesDocument } from '../../generated/documents.ts'
import { Badge, EnvironmentBadge } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { TwoLines } from '../../kit/data-table.tsx'
import { Icon } from '../../kit/icon.tsx'
import { FailureNote, Skeleton } from '../../kit/state.tsx'
import { Avatar, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { nameAction } from '../audit/action-text.tsx'
import { type Entry, describeEntry, listIds } from '../audit/entry.ts'
import { Sentence } from '../audit/sentence.tsx'
import { type Names, useNames } from '../audit/use-names.ts'
import { findAuthor, listAuthorIds } from '../audit/who.tsx'
import type { TokenItem, Tokens } from './tokens.ts'

const shownRows = 6
const dayMs = 86_400_000

export function TokensCard({ tokens }: { tokens: Tokens }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const canMachines = useCan('MACHINE_USER_READ')
  const { items, error, retry } = tokens
  return (
    <Card
      title={t('overview.tokens')}
      link={
        canMachines && (
          <Link to="/p/$project/machine-users" params={{ project: slug }} search={{ older: '90' } as never}>
            {t('section.machineUsers')}
          </Link>
        )
      }
    >
      {items === null && error !== null && <FailureNote failure={describeFailure(error)} onRetry={retry} />}
      {items === null && error === null && <Skeleton rows={3} />}
      {items?.length === 0 && <p className="card-note">{t('overview.noTokens')}</p>}
      <ul className="card-rows">
        {items?.slice(0, shownRows).map((item) => (
          <li key={item.id}>
            <TokenRow item={item} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function TokenRow({ item }: { item: TokenItem }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const now = useNow()
  const { name, prefix, expiresAt, rotatedAt, environment, isOwn } = item
  const isMachine = rotatedAt !== null
  const content = (
    <>
      <Icon name={isMachine ? 'machineUsers' : 'user'} tone="muted" />
      <TwoLines first={name} second={prefix} />
      <span className="card-row-end">
        {environment !== null && (
          <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
        )}
        {isMachine ? (
          <Badge>{t('overview.daysOld', Math.floor((now - Date.parse(rotatedAt)) / dayMs))}</Badge>
        ) : (
          <Badge tone="warn" icon="warning">
            {t('overview.expires', Math.max(0, Math.floor((Date.parse(expiresAt ?? '') - now) / dayMs)))}
          </Badge>
        )}
      </span>
    </>
  )
  if (isMachine)
    return (
      <Link
        to="/p/$project/machine-users"
        params={{ project: slug }}
        search={{ open: item.id } as never}
        className="card-row"
      >
        {content}
      </Link>
    )
  return (
    <Link
      to={isOwn ? '/me' : '/system/tokens'}
      search={{ tab: isOwn ? 'tokens' : undefined, q: isOwn ? undefined : name } as never}
      className="card-row"
    >
      {content}
    </Link>
  )
}

export function ChangesCard(): ReactNode {
  const t = useText()
  const { id, slug } = useProject()
  const { data, error, refetch } = useRead(overviewChangesDocument, { projectId: id })
  const nodes = data?.auditLogsConnection.nodes.slice(0, shownRows)
  const names = useNames(
    (nodes ?? []).flatMap((entry) => [...listIds(describeEntry(entry)), ...listAuthorIds(entry)]),
  )
  return (
    <Card
      title={t('overview.changes')}
      link={
        <Link to="/p/$project/audit" params={{ project: slug }}>
          {t('section.audit')}
        </Link>
      }
    >
      {nodes === undefined && error !== null && (
        <FailureNote failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {nodes === undefined && error === null && <Skeleton rows={3} />}
      {nodes?.length === 0 && <p className="card-note">{t('overview.noChanges')}</p>}
      <ul className="card-rows">
        {nodes?.map((entry) => (
          <li key={entry.id}>
            <ChangeRow entry={entry} names={names} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function ChangeRow({ entry, names }: { entry: Entry; names: Names }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { name } = findAuthor(entry, names, t)
  return (
    <Link
      to="/p/$project/audit"
      params={{ project: slug }}
      search={{ open: String(entry.seq) } as never}
      className="card-row"
    >
      <Avatar name={name} />
      <span className="two-lines">
        <span className="two-lines-first truncate">
          {name} <span className="change-text">· {nameAction(entry.action, t)}</span>
        </span>
        <span className="change-text truncate">
          <Sentence parts={describeEntry(entry)} names={names} />
        </span>
      </span>
      <span className="card-row-end muted">
        <Time at={entry.createdAt} />
      </span>
    </Link>
  )
}
