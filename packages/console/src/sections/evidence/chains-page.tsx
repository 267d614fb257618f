// The audit chains of all projects: what the Manager has verified, and a verification on request.
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { useBatchedReads } from '../../api/batched-reads.ts'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import {
  type AuditChainResult,
  type EvidenceProjectsResult,
  evidenceProjectsDocument,
} from '../../generated/documents.ts'
import { Status, type StatusKind } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { CellSkeleton, FailureState, Skeleton, State } from '../../kit/state.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { VerifiedPart } from '../audit/use-verification.ts'
import { TrailExport } from './trail-export.tsx'
import { useVerifyAll } from './use-verify-all.ts'
import { VerifyAllNote } from './verify-all-note.tsx'

type Chain = AuditChainResult['auditChain']
type Project = EvidenceProjectsResult['projectsConnection']['nodes'][number]
type Row = Project & { readonly chain: Chain | undefined; readonly part: VerifiedPart | undefined }

const chainFields =
  'auditChain(projectId: $id) { status entries verifiedSeq verifiedAt firstBrokenSeq reason checkpointAt }'

function useChains(list: ListSearch, parts: ReadonlyMap<string, VerifiedPart>) {
  const text = list.search['q'] ?? ''
  const projects = useRead(
    evidenceProjectsDocument,
    {
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      pagination: { limit: list.size, offset: (list.page - 1) * list.size },
    },
    { keepsPrevious: true },
  )
  const result = projects.data?.projectsConnection
  const ids = useMemo(() => (result?.nodes ?? []).map(({ id }) => id), [result])
  const chains = useBatchedReads<{ chain: Chain }>({
    name: 'audit-chains',
    ids,
    fields: { chain: chainFields },
  })
  const rows = useMemo(
    () =>
      (result?.nodes ?? []).map((project): Row => ({
        ...project,
        chain: chains.data?.get(project.id)?.chain,
        part: parts.get(project.id),
      })),
    [result, chains.data, parts],
  )
  return { result, rows, error: projects.error ?? chains.error, retry: () => void projects.refetch() }
}

export function ChainsPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const navigate = useNavigate()
  const { verification, parts, start, stop } = useVerifyAll()
  const { result, rows, error, retry } = useChains(list, parts)
  return (
    <Page
      title={t('section.evidence')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={
        <>
          <TrailExport />
          <Button
            icon="audit"
            variant="primary"
            action="audit.verify"
            isPending={verification.state === 'running'}
            onPress={start}
          >
            {t('evidence.verifyNow')}
          </Button>
        </>
      }
      filters={
        <>
          {choice}
          <ChainSearch list={list} />
          <VerifyAllNote verification={verification} onStop={stop} onRetry={start} />
        </>
      }
      foot={result !== undefined && <ListPager list={list} result={result} />}
    >
      <DataTable
        label={t('evidence.chains')}
        columns={useColumns()}
        rows={rows}
        onOpen={(id) => {
          const project = rows.find((row) => row.id === id)
          if (project !== undefined)
            void navigate({ to: '/p/$project/audit', params: { project: project.slug }, search: {} as never })
        }}
        placeholder={
          result === undefined ? (
            error === null ? (
              <Skeleton rows={12} />
            ) : (
              <FailureState failure={describeFailure(error)} onRetry={retry} />
            )
          ) : (
            <State icon="search" title={t('evidence.noProject')}>
              {t('evidence.noProjectHint')}
            </State>
          )
        }
      />
    </Page>
  )
}

function ChainSearch({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return <SearchField label={t('evidence.searchProjects')} value={text} onChange={setText} />
}

const kinds = { ok: 'ok', broken: 'danger', unverified: 'pending', empty: 'off' } as const satisfies Record<
  string,
  StatusKind
>
type ChainStatus = keyof typeof kinds
const isKnownStatus = (status: string): status is ChainStatus => Object.hasOwn(kinds, status)
/** A status that this version does not know proves nothing. */
const toStatus = (status: string): ChainStatus => (isKnownStatus(status) ? status : 'unverified')

/** What the Manager knows about a chain; after a verification, its result. */
function ChainState({ row: { chain, part } }: { row: Row }): ReactNode {
  const t = useText()
  const known = part ?? chain
  if (known === undefined) return <CellSkeleton />
  const status = toStatus(known.status)
  return (
    <span title={known.reason ?? undefined}>
      <Status kind={kinds[status]}>
        {t(part === undefined ? `evidence.chain.${status}` : `evidence.now.${status}`)}
      </Status>
    </span>
  )
}

function useColumns(): readonly DataColumn<Row>[] {
  const t = useText()
  const { number } = useFormat()
  return useMemo(
    () => [
      {
        id: 'project',
        title: t('members.of.project'),
        width: '2fr',
        minWidth: 160,
        isRowHeader: true,
        priority: 1,
        render: ({ name, slug }) => <TwoLines first={name} second={slug} />,
      },
      {
        id: 'state',
        title: t('evidence.state'),
        minWidth: 160,
        priority: 1,
        render: (row) => <ChainState row={row} />,
      },
      {
        id: 'entries',
        title: t('evidence.entries'),
        align: 'end',
        minWidth: 96,
        priority: 2,
        render: ({ chain }) => (chain === undefined ? <CellSkeleton /> : number(chain.entries)),
      },
      {
        id: 'verified',
        title: t('evidence.verifiedUpTo'),
        align: 'end',
        minWidth: 120,
        priority: 3,
        render: ({ chain }) => (chain === undefined ? <CellSkeleton /> : number(chain.verifiedSeq)),
      },
      {
        id: 'sealed',
        title: t('evidence.sealed'),
        align: 'end',
        minWidth: 120,
        priority: 3,
        render: ({ chain }) => (chain === undefined ? <CellSkeleton /> : <Time at={chain.checkpointAt} />),
      },
    ],
    [t, number],
  )
}
