// The audit trail of a project: who changed what, the state of the chain, and the open entry beside the list.
import './audit.css'
import { type ReactNode, useMemo } from 'react'
import { useListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { useCan, useMay, useProject } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { Page } from '../../kit/page.tsx'
import { Pager } from '../../kit/pager.tsx'
import { State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { AuditExport } from './audit-export.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { toAuditQuery } from './audit-query.ts'
import { AuditPlaceholder, AuditTable } from './audit-table.tsx'
import { ChainNote } from './chain-note.tsx'
import { EntryPanel } from './entry-panel.tsx'
import { type EntriesRead, useEntries } from './use-entries.ts'
import { useVerification } from './use-verification.ts'

export function AuditPage(): ReactNode {
  const t = useText()
  const canRead = useCan('AUDIT_READ')
  if (canRead) return <Trail />
  return (
    <Page title={t('section.audit')}>
      <State icon="lock" title={t('failure.notFound')}>
        {t('failure.notFoundHint')}
      </State>
    </Page>
  )
}

function Trail(): ReactNode {
  const t = useText()
  const { id } = useProject()
  const canVerify = useMay('audit.verify')
  const now = useNow()
  const list = useListSearch()
  const query = toAuditQuery(list.search, now)
  const read = useEntries(list, query)
  const { verification, start, stop } = useVerification(id)
  const { entries, result, pages } = read
  const seqs = useMemo(() => entries.map(({ seq }) => String(seq)), [entries])
  return (
    <Page
      title={t('section.audit')}
      isEdgeToEdge
      note={result !== undefined && <Total result={result} />}
      actions={
        <>
          {canVerify && (
            <Button
              icon="audit"
              action="audit.verify"
              isPending={verification.state === 'running'}
              onPress={start}
            >
              {t('audit.verify')}
            </Button>
          )}
          <AuditExport list={list} query={query} />
        </>
      }
      filters={
        <>
          <ChainNote
            verification={verification}
            onVerify={start}
            onClose={stop}
            onOpen={(seq) => list.setOpen(String(seq))}
          />
          <AuditFilters list={list} entries={entries} />
          {result?.isComplete === false && entries.length > 0 && <IncompleteNote read={read} />}
        </>
      }
      foot={
        result !== undefined && (
          <Pager
            page={pages.page}
            size={list.size}
            shown={entries.length}
            total={result.totalCount}
            isTotalExact={result.isTotalExact}
            hasNext={read.hasNext}
            onPage={pages.goTo}
            onSize={list.setSize}
          />
        )
      }
      panel={
        list.open !== null && (
          <EntryPanel
            seq={list.open}
            seqs={seqs}
            list={list}
            verified={verification.state === 'done' ? verification.part : null}
          />
        )
      }
    >
      <AuditTable list={list} entries={entries} placeholder={<AuditPlaceholder list={list} read={read} />} />
    </Page>
  )
}

/** A total of 0 that is not exact gives no information, so it is not shown. */
function Total({ result }: { result: NonNullable<EntriesRead['result']> }): ReactNode {
  const { number } = useFormat()
  if (result.totalCount === 0 && !result.isTotalExact) return null
  return (
    <span className="numbers">
      {number(result.totalCount)}
      {!result.isTotalExact && '+'}
    </span>
  )
}

/** Says that a page with rows is not complete. Without rows, the table says so. */
function IncompleteNote({ read: { hasNext, pages } }: { read: EntriesRead }): ReactNode {
  const t = useText()
  return (
    <div className="audit-chain">
      <Note
        tone="info"
        actions={
          hasNext && (
            <Button size="small" onPress={() => pages.goTo(pages.page + 1)}>
              {t('audit.searchOlder')}
            </Button>
          )
        }
      >
        {t('audit.incomplete')}
      </Note>
    </div>
  )
}
