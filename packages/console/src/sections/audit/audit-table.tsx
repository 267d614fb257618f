// The table of entries, and the states without rows.
import { type ReactNode, useMemo } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable } from '../../kit/data-table.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ActionText } from './action-text.tsx'
import { isFiltered, noFilters } from './audit-query.ts'
import { type Entry, describeEntry, listIds } from './entry.ts'
import { Sentence, formatSentence } from './sentence.tsx'
import type { EntriesRead } from './use-entries.ts'
import { type Names, useNames } from './use-names.ts'
import { Who, findAuthor, listAuthorIds } from './who.tsx'

type Row = Entry & { readonly id: string }

function useColumns(names: Names): readonly DataColumn<Row>[] {
  const t = useText()
  const { number } = useFormat()
  return useMemo(
    (): readonly DataColumn<Row>[] => [
      {
        id: 'seq',
        title: t('audit.number'),
        width: 80,
        minWidth: 80,
        priority: 3,
        render: ({ seq }) => <span className="mono muted">{number(seq)}</span>,
      },
      {
        id: 'who',
        title: t('audit.who'),
        width: '1fr',
        minWidth: 120,
        priority: 2,
        render: (entry) => <Who entry={entry} names={names} />,
      },
      {
        id: 'action',
        title: t('audit.action'),
        width: 104,
        minWidth: 104,
        priority: 3,
        render: ({ action }) => <ActionText action={action} />,
      },
      {
        id: 'what',
        title: t('audit.what'),
        width: '4fr',
        minWidth: 184,
        isRowHeader: true,
        priority: 1,
        render: (entry) => <What entry={entry} names={names} />,
      },
      {
        id: 'when',
        title: t('audit.when'),
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 1,
        render: ({ createdAt }) => <Time at={createdAt} />,
      },
    ],
    [t, number, names],
  )
}

/**
 * Shows the sentence. A narrow screen has no other columns, so the action and the author are shown below the sentence.
 */
function What({ entry, names }: { entry: Entry; names: Names }): ReactNode {
  const t = useText()
  const parts = describeEntry(entry)
  return (
    <div className="two-lines">
      <div className="truncate" title={formatSentence(parts, names, t)}>
        <Sentence parts={parts} names={names} />
      </div>
      <div className="audit-narrow">
        <ActionText action={entry.action} />
        <span className="truncate">{findAuthor(entry, names, t).name}</span>
      </div>
    </div>
  )
}

type TableProps = { list: ListSearch; entries: readonly Entry[]; placeholder: ReactNode }

export function AuditTable({ list, entries, placeholder }: TableProps): ReactNode {
  const t = useText()
  // The address identifies an entry by its number, which people and other pages also use.
  const rows = useMemo(() => entries.map((entry) => ({ ...entry, id: String(entry.seq) })), [entries])
  const names = useNames(
    entries.flatMap((entry) => [...listIds(describeEntry(entry)), ...listAuthorIds(entry)]),
  )
  return (
    <DataTable
      label={t('section.audit')}
      columns={useColumns(names)}
      rows={rows}
      openId={list.open}
      onOpen={list.setOpen}
      placeholder={placeholder}
    />
  )
}

type PlaceholderProps = { list: ListSearch; read: EntriesRead }

export function AuditPlaceholder({ list, read }: PlaceholderProps): ReactNode {
  const t = useText()
  const { result, pages, failure, refetch } = read
  const newest = pages.page > 1 && <Button onPress={() => pages.goTo(1)}>{t('audit.toNewest')}</Button>
  const clear = isFiltered(list.search) && (
    <Button onPress={() => list.setFilter(noFilters)}>{t('app.clearFilters')}</Button>
  )
  if (failure !== null) return <FailureState failure={failure} onRetry={refetch} actions={newest} />
  if (result === undefined) return <Skeleton rows={12} />
  if (!result.isComplete)
    return (
      <State
        icon="search"
        title={t('audit.noMatchYet')}
        actions={
          <>
            <Button variant="primary" onPress={() => pages.goTo(pages.page + 1)}>
              {t('audit.searchOlder')}
            </Button>
            {clear}
          </>
        }
      >
        {t('audit.noMatchYetHint')}
      </State>
    )
  if (pages.page > 1)
    return (
      <State icon="audit" title={t('audit.noOlder')} actions={newest}>
        {t('audit.noOlderHint')}
      </State>
    )
  return isFiltered(list.search) ? (
    <State icon="search" title={t('audit.noMatch')} actions={clear}>
      {t('audit.noMatchHint')}
    </State>
  ) : (
    <State icon="audit" title={t('audit.empty')}>
      {t('audit.emptyHint')}
    </State>
  )
}
