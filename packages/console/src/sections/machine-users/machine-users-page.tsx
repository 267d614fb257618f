// The machine users of all environments of a project.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ExportButton } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { CreateMachineUser } from './create-dialog.tsx'
import { useMachineUserColumns } from './machine-user-columns.tsx'
import { MachineUserFilters } from './machine-user-filter-fields.tsx'
import { MachineUserPanel } from './machine-user-panel.tsx'
import type { MachineUserRow } from './machine-user-types.ts'
import { defaultOrder, useMachineUserList } from './use-machine-user-list.ts'

const noRows: readonly MachineUserRow[] = []

export function MachineUsersPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const canCreate = useMay('machineUsers.create')
  const [isCreating, setCreating] = useState(false)
  const read = useMachineUserList(list)
  const { result } = read
  const rows = result?.nodes ?? noRows
  const create = canCreate && (
    <Button variant="primary" icon="add" action="machineUsers.create" onPress={() => setCreating(true)}>
      {t('machineUsers.new')}
    </Button>
  )
  return (
    <Page
      title={t('section.machineUsers')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={
        <>
          <Export exported={read.exported} />
          {create}
        </>
      }
      filters={<MachineUserFilters list={list} />}
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <MachineUserPanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <DataTable
        label={t('section.machineUsers')}
        columns={useMachineUserColumns()}
        rows={rows}
        sort={list.sort ?? defaultOrder}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={<Placeholder list={list} read={read} create={create} />}
      />
      {isCreating && (
        <CreateMachineUser
          onClose={() => setCreating(false)}
          onCreated={(id) => {
            setCreating(false)
            list.setOpen(id)
          }}
        />
      )}
    </Page>
  )
}

type Read = ReturnType<typeof useMachineUserList>

function Export({ exported }: { exported: Read['exported'] }): ReactNode {
  const { slug } = useProject()
  return (
    <ExportButton
      fileName={`${slug}-machine-users.csv`}
      read={{ ...exported, select: (result) => result.list }}
      heads={['id', 'name', 'environment', 'user name', 'enabled', 'created', 'rotated', 'last use']}
      toCells={(row) => [
        row.id,
        row.name,
        row.environment.name,
        row.username,
        String(row.enabled),
        row.createdAt,
        row.lastRotatedAt ?? '',
        row.lastUsedAt ?? '',
      ]}
    />
  )
}

type PlaceholderProps = { list: ListSearch; read: Read; create: ReactNode }

/** Shown instead of rows: a failure, loading, or why there are none. */
function Placeholder({ list, read, create }: PlaceholderProps): ReactNode {
  const t = useText()
  const { result, error, refetch, olderThan, isFiltered } = read
  if (error !== null) return <FailureState failure={describeFailure(error)} onRetry={refetch} />
  if (result === undefined) return <Skeleton rows={12} />
  if (!isFiltered && list.page === 1)
    return (
      <State icon="machineUsers" title={t('machineUsers.empty')} actions={create}>
        {t('machineUsers.emptyHint')}
      </State>
    )
  const isAllFresh = olderThan !== null
  return (
    <State
      icon={isAllFresh ? 'ok' : 'search'}
      title={isAllFresh ? t('machineUsers.noneOld') : t('machineUsers.noMatch')}
      actions={
        <Button
          onPress={() =>
            list.setFilter({ q: undefined, env: undefined, status: undefined, older: undefined })
          }
        >
          {t('app.clearFilters')}
        </Button>
      }
    >
      {isAllFresh ? t('machineUsers.noneOldHint', olderThan) : t('machineUsers.noMatchHint')}
    </State>
  )
}
