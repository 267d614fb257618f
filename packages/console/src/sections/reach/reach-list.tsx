// A list of access that grows on demand: what one person has access to, or who has access to one object.
import './reach.css'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { type GrowingRows, useGrowingRows } from '../../api/growing-rows.ts'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { namePerson } from '../../app/person-name.ts'
import { personReachDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { FailureNote, FailureState, Skeleton } from '../../kit/state.tsx'
import { Avatar } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { type ReachKind, type ReachRow, identifyRow, reachDocuments } from './reach-types.ts'
import { HiddenNote, Permissions, describeScope, nameObject, useReasons } from './reach-words.tsx'

const pagination = { limit: 25, offset: 0 }

type PersonReachProps = {
  userId: string
  /** Restricts the list to one project; without it, the list covers all projects. */
  project?: { readonly id: string; readonly name: string }
}

/** Everything that a person has access to. */
export function PersonReach({ userId, project }: PersonReachProps): ReactNode {
  const t = useText()
  const variables = { user: userId, project: project?.id ?? null, pagination }
  const growing = useGrowingRows({
    document: personReachDocument,
    variables,
    select: ({ access }) => access,
    maxPages: 1,
  })
  const rows = <ReachRows growing={growing} empty={t('reach.noAccess')} isOfPerson />
  // Without a project, the title of the page or tab is enough.
  if (project === undefined) return <section aria-label={t('reach.access')}>{rows}</section>
  return <Section title={t('reach.accessIn', project.name)}>{rows}</Section>
}

/** Everyone who has access to an object, with a search by name or e-mail address. */
export function ObjectReach({ kind, id }: { kind: ReachKind; id: string }): ReactNode {
  const t = useText()
  const [text, setText] = useState('')
  const value = useDebounced(text.trim())
  const filters = value === '' ? [] : [{ field: value.includes('@') ? 'userEmail' : 'userName', value }]
  const document = reachDocuments[kind]
  const growing = useGrowingRows({
    document,
    variables: { object: id, filters, pagination },
    select: ({ access }) => access,
    maxPages: 1,
  })
  const hiddenKinds = useRead(document, { object: id, pagination: { limit: 1, offset: 0 } }).data?.access
    .hiddenKinds
  return (
    <Section title={t('reach.who')}>
      <SearchField label={t('members.search')} value={text} onChange={setText} isWide />
      <HiddenNote kinds={hiddenKinds ?? []} />
      <ReachRows growing={growing} empty={t('reach.nobody')} isOfPerson={false} />
    </Section>
  )
}

type ReachRowsProps = { growing: GrowingRows<ReachRow>; empty: string; isOfPerson: boolean }

function ReachRows({ growing, empty, isOfPerson }: ReachRowsProps): ReactNode {
  const t = useText()
  const { rows, error, retry, hasMore, isReadingMore, readMore } = growing
  if (rows === undefined)
    return error === null ? (
      <Skeleton rows={6} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={retry} />
    )
  return (
    <>
      {rows.length === 0 && <SectionText>{empty}</SectionText>}
      <ul>
        {rows.map((row) => (
          <ReachItem key={identifyRow(row)} row={row} isOfPerson={isOfPerson} />
        ))}
      </ul>
      {error !== null && <FailureNote failure={describeFailure(error)} onRetry={retry} />}
      {hasMore && (
        <div className="reach-more">
          <Button isPending={isReadingMore} onPress={readMore}>
            {t('reach.more')}
          </Button>
        </div>
      )}
    </>
  )
}

function ReachItem({ row, isOfPerson }: { row: ReachRow; isOfPerson: boolean }): ReactNode {
  const t = useText()
  const describeReasons = useReasons()
  const person = namePerson(row.user)
  const name = isOfPerson ? nameObject(t, row) : person
  return (
    <li className="reach-row">
      <div className="reach-head">
        {!isOfPerson && <Avatar name={person} />}
        <span className="truncate reach-name" title={name}>
          {name}
        </span>
        <Badge tone="outline">{row.role}</Badge>
      </div>
      <p className="reach-line">
        {isOfPerson ? describeScope(t, row) : `${nameObject(t, row)} · ${row.user.externalEmail}`}
      </p>
      <p className="reach-line">{describeReasons(row)}</p>
      <Permissions permissions={row.permissions} />
    </li>
  )
}
