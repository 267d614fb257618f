// Machine users in a project whose tokens are old. The API can list machine users only per project.
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { readLastProject } from '../../app/last-project.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import {
  type ShellProjectResult,
  type SystemMachineUsersResult,
  shellProjectDocument,
  systemMachineUsersDocument,
} from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { ProjectPicker } from './project-picker.tsx'

type MachineUser = SystemMachineUsersResult['machineUsersToRotateConnection']['nodes'][number]
type Project = ShellProjectResult['project']

const ages = ['30', '90', '180', '365'] as const
const defaultAge = '90'
const dayMs = 86_400_000

/** Returns the project of the address, otherwise the one that this browser opened last. */
function useChosenProject({ search }: ListSearch) {
  const slug = search['project'] ?? readLastProject()
  const { data, error, refetch } = useRead(
    shellProjectDocument,
    { slug: slug ?? '' },
    { isEnabled: slug !== null },
  )
  return { slug, project: data?.project, error, retry: () => void refetch() }
}

function useMachineUsers(list: ListSearch, project: Project | undefined) {
  const age = ages.find((days) => days === list.search['age']) ?? defaultAge
  const text = list.search['q'] ?? ''
  const { data, error, refetch } = useRead(
    systemMachineUsersDocument,
    {
      projectId: project?.id ?? '',
      days: Number(age),
      filters: text === '' ? [] : [{ field: 'name', value: text }],
      order: [list.sort ?? { field: 'name', direction: 'ASC' }],
      pagination: { limit: list.size, offset: (list.page - 1) * list.size },
    },
    { isEnabled: project !== undefined, keepsPrevious: true },
  )
  return { result: data?.machineUsersToRotateConnection, error, retry: () => void refetch() }
}

export function MachineTokensPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const navigate = useNavigate()
  const list = useListSearch()
  const chosen = useChosenProject(list)
  const { result, error, retry } = useMachineUsers(list, chosen.project)
  const columns = useColumns()
  return (
    <Page
      title={t('section.tokens')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      filters={<Filters list={list} choice={choice} project={chosen.project ?? null} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
    >
      <DataTable
        label={t('system.tokens.machine')}
        columns={columns}
        rows={result?.nodes ?? []}
        sort={list.sort}
        onSort={list.setSort}
        onOpen={(id) =>
          void navigate({
            to: '/p/$project/machine-users',
            params: { project: chosen.slug ?? '' },
            search: { open: id } as never,
          })
        }
        placeholder={
          <Placeholder
            list={list}
            slug={chosen.slug}
            isLoading={result === undefined}
            error={chosen.error ?? error}
            retry={chosen.error === null ? retry : chosen.retry}
          />
        }
      />
    </Page>
  )
}

const createColumns = (t: Translate, now: number): readonly DataColumn<MachineUser>[] => [
  {
    id: 'name',
    title: t('system.machineUser'),
    sortField: 'name',
    width: '3fr',
    minWidth: 180,
    isRowHeader: true,
    priority: 1,
    render: ({ name, username }) => <TwoLines first={name} second={username} />,
  },
  {
    id: 'environment',
    title: t('system.environment'),
    minWidth: 112,
    priority: 2,
    render: ({ environment }) => (
      <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
    ),
  },
  {
    id: 'age',
    title: t('system.tokenAge'),
    align: 'end',
    minWidth: 120,
    priority: 1,
    render: ({ lastRotatedAt, createdAt }) =>
      t('system.days', Math.floor((now - Date.parse(lastRotatedAt ?? createdAt)) / dayMs)),
  },
  {
    id: 'lastRotatedAt',
    title: t('system.rotated'),
    sortField: 'lastRotatedAt',
    align: 'end',
    minWidth: 120,
    priority: 3,
    render: ({ lastRotatedAt }) => <Time at={lastRotatedAt} />,
  },
  {
    id: 'lastUsedAt',
    title: t('token.lastUsed'),
    align: 'end',
    minWidth: 112,
    priority: 3,
    render: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
  },
]

function useColumns(): readonly DataColumn<MachineUser>[] {
  const t = useText()
  const now = useNow()
  return useMemo(() => createColumns(t, now), [t, now])
}

type FiltersProps = { list: ListSearch; choice: ReactNode; project: Project | null }

function Filters({ list, choice, project }: FiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      {choice}
      <ProjectPicker value={project} onChange={(slug) => list.setFilter({ project: slug })} />
      <SearchField label={t('system.searchMachineUsers')} value={text} onChange={setText} />
      <Select
        label={t('system.tokenAge')}
        isChip
        value={ages.find((days) => days === list.search['age']) ?? defaultAge}
        options={ages.map((days) => ({ id: days, text: t('system.olderThan', Number(days)) }))}
        onChange={(age) => list.setFilter({ age: age === defaultAge ? undefined : age })}
      />
    </>
  )
}

type PlaceholderProps = {
  list: ListSearch
  slug: string | null
  isLoading: boolean
  error: Error | null
  retry: () => void
}

function Placeholder({ list, slug, isLoading, error, retry }: PlaceholderProps): ReactNode {
  const t = useText()
  if (slug === null)
    return (
      <State icon="machineUsers" title={t('system.chooseProject')}>
        {t('system.chooseProjectHint')}
      </State>
    )
  if (error !== null) return <FailureState failure={describeFailure(error)} onRetry={retry} />
  if (isLoading) return <Skeleton />
  const isSearching = list.search['q'] !== undefined
  return (
    <State
      icon={isSearching ? 'search' : 'ok'}
      title={isSearching ? t('system.noMachineUserMatches') : t('system.noOldTokens')}
    >
      {t('system.noOldTokensHint')}
    </State>
  )
}
