// A read-only table of the rights of each role. It is generated from the policy that the API enforces.
import { type ReactNode, useMemo } from 'react'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Page } from '../../kit/page.tsx'
import { State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { type Requirement, type Right, type Role, hasRight, rights, roles } from './role-rights.ts'

export function RolesPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const list = useListSearch()
  const columns = useMemo(() => createColumns(t), [t])
  const role = roles.find((name) => name === list.search['role'])
  const text = (list.search['q'] ?? '').toLocaleLowerCase()
  const rows = rights.filter(
    ({ id, requirement }) =>
      (role === undefined || hasRight(role, requirement)) &&
      `${id} ${describeRequirement(requirement, t)}`.toLocaleLowerCase().includes(text),
  )
  return (
    <Page
      title={t('section.users')}
      isEdgeToEdge
      note={<span className="numbers">{t('system.rightsCount', rows.length)}</span>}
      filters={<Filters list={list} choice={choice} role={role} />}
    >
      <DataTable
        label={t('system.view.roles')}
        columns={columns}
        rows={rows}
        placeholder={
          <State
            icon="search"
            title={t('system.noRight')}
            actions={
              <Button onPress={() => list.setFilter({ q: undefined, role: undefined })}>
                {t('app.clearFilters')}
              </Button>
            }
          />
        }
      />
    </Page>
  )
}

const createColumns = (t: Translate): readonly DataColumn<Right>[] => [
  {
    id: 'permission',
    title: t('system.permission'),
    width: '3fr',
    minWidth: 304,
    isRowHeader: true,
    priority: 1,
    render: ({ id, requirement }) => (
      <div className="system-right">
        <TwoLines first={id} second={describeRequirement(requirement, t)} />
      </div>
    ),
  },
  ...roles.map((role): DataColumn<Right> => ({
    id: role,
    title: role,
    width: '1fr',
    minWidth: 96,
    priority: 3,
    render: ({ requirement }) => <Held isHeld={hasRight(role, requirement)} />,
  })),
]

function Held({ isHeld }: { isHeld: boolean }): ReactNode {
  const t = useText()
  return (
    <>
      {isHeld ? (
        <Icon name="check" tone="ok" />
      ) : (
        <span aria-hidden="true" className="muted">
          –
        </span>
      )}
      <span className="visually-hidden">{isHeld ? t('system.held') : t('system.notHeld')}</span>
    </>
  )
}

/** Describes which roles have a permission, including roles that have no column in the table. */
function describeRequirement(requirement: Requirement, t: Translate): string {
  const { system, project, anyProject, anyMembership, tenant, application } = requirement
  const parts = [
    system === 'user' && t('system.needs.user'),
    system === 'administrator' && t('system.needs.administrator'),
    project !== undefined && t('system.needs.project', project),
    anyProject !== undefined && t('system.needs.anyProject', anyProject),
    anyMembership === true && t('system.needs.anyMembership'),
    tenant !== undefined && t('system.needs.tenant', tenant),
    application !== undefined && t('system.needs.application', application),
  ]
  return parts.filter((part) => part !== false).join(t('system.or'))
}

type FiltersProps = { list: ListSearch; choice: ReactNode; role: Role | undefined }

function Filters({ list, choice, role }: FiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      {choice}
      <SearchField label={t('system.searchRights')} value={text} onChange={setText} />
      <Select
        label={t('system.permissionsOf')}
        isChip
        value={role ?? 'any'}
        options={[{ id: 'any', text: t('app.all') }, ...roles.map((id) => ({ id, text: id }))]}
        onChange={(id) => list.setFilter({ role: id === 'any' ? undefined : id })}
      />
      {role !== undefined && (
        <p className="system-hint">
          {role === 'administrator' ? t('system.role.administrator') : t(`members.role.${role}`)}
        </p>
      )}
    </>
  )
}
