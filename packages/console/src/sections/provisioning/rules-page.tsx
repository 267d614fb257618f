// The rules of all groups, and the open rule beside the list.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ExportButton } from '../../app/export-button.tsx'
import { ListPager } from '../../app/list-pager.tsx'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import { provisioningRulesDocument, shellProjectDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { type DataColumn, DataTable, TwoLines } from '../../kit/data-table.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ProjectPicker } from '../system/project-picker.tsx'
import { RulePanel } from './rule-panel.tsx'
import { type Rule, describeScope, findRuleKind, nameRuleObject } from './rules.tsx'

/** Reads the page of rules. If the address names a project, its id must be read first. */
function useRules({ search, sort, page, size }: ListSearch) {
  const slug = search['project']
  const chosen = useRead(shellProjectDocument, { slug: slug ?? '' }, { isEnabled: slug !== undefined })
  const project = slug === undefined ? undefined : chosen.data?.project
  const filters = project === undefined ? [] : [{ field: 'projectId', value: project.id }]
  const order = [sort ?? { field: 'createdAt', direction: 'DESC' as const }]
  const isEnabled = slug === undefined || project !== undefined
  const { data, error, refetch } = useRead(
    provisioningRulesDocument,
    { filters, order, pagination: { limit: size, offset: (page - 1) * size } },
    { isEnabled, keepsPrevious: true },
  )
  return {
    result: isEnabled ? data?.rules : undefined,
    project,
    filters,
    order,
    error: isEnabled ? error : chosen.error,
    retry: () => void (isEnabled ? refetch() : chosen.refetch()),
  }
}

export function RulesPage({ choice }: { choice: ReactNode }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const { result, project, filters, order, error, retry } = useRules(list)
  const columns = useColumns()
  const rows = result?.nodes ?? []
  return (
    <Page
      title={t('section.provisioning')}
      isEdgeToEdge
      note={result !== undefined && <span className="numbers">{number(result.totalCount)}</span>}
      actions={
        <ExportButton
          fileName="group-rules.csv"
          read={{
            document: provisioningRulesDocument,
            variables: { filters, order, pagination: { limit: 100, offset: 0 } },
            select: ({ rules }) => rules,
          }}
          heads={['id', 'group', 'project', 'kind', 'object', 'role', 'people', 'creator', 'createdAt']}
          toCells={(rule) => [
            rule.id,
            rule.group.displayName,
            rule.project.slug,
            findRuleKind(rule),
            nameRuleObject(rule),
            rule.role,
            rule.group.memberCount,
            namePerson(rule.creator),
            rule.createdAt,
          ]}
        />
      }
      filters={
        <>
          {choice}
          <ProjectPicker
            isFilter
            value={project ?? null}
            onChange={(slug) => list.setFilter({ project: slug === '' ? undefined : slug })}
          />
        </>
      }
      foot={result !== undefined && <ListPager list={list} result={result} />}
      panel={
        list.open !== null && (
          <RulePanel key={list.open} id={list.open} ids={rows.map(({ id }) => id)} list={list} />
        )
      }
    >
      <DataTable
        label={t('provisioning.view.rules')}
        columns={columns}
        rows={rows}
        rowHeight={48}
        sort={list.sort}
        onSort={list.setSort}
        openId={list.open}
        onOpen={list.setOpen}
        placeholder={
          result === undefined ? (
            error === null ? (
              <Skeleton rows={12} />
            ) : (
              <FailureState failure={describeFailure(error)} onRetry={retry} />
            )
          ) : (
            <NoRules list={list} />
          )
        }
      />
    </Page>
  )
}

function useColumns(): readonly DataColumn<Rule>[] {
  const t = useText()
  return useMemo(
    () => [
      {
        id: 'group',
        title: t('provisioning.group'),
        width: '2fr',
        minWidth: 120,
        isRowHeader: true,
        priority: 1,
        render: ({ group }) => (
          <div className="rule-object">
            <TwoLines first={group.displayName} second={t('provisioning.peopleCount', group.memberCount)} />
          </div>
        ),
      },
      {
        id: 'object',
        title: t('provisioning.roleIn'),
        width: '3fr',
        minWidth: 120,
        priority: 1,
        render: (rule) => (
          <div className="rule-object">
            <TwoLines first={nameRuleObject(rule)} second={describeScope(t, rule)} />
          </div>
        ),
      },
      {
        id: 'role',
        title: t('members.role'),
        sortField: 'role',
        minWidth: 112,
        priority: 1,
        render: ({ role }) => <Badge tone="outline">{role}</Badge>,
      },
      {
        id: 'creator',
        title: t('provisioning.creator'),
        minWidth: 160,
        priority: 3,
        render: ({ creator }) => (
          <span className="truncate" title={creator.externalEmail}>
            {namePerson(creator)}
          </span>
        ),
      },
      {
        id: 'createdAt',
        title: t('token.created'),
        sortField: 'createdAt',
        align: 'end',
        minWidth: 120,
        priority: 3,
        render: ({ createdAt }) => <Time at={createdAt} />,
      },
    ],
    [t],
  )
}

function NoRules({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  if (list.search['project'] === undefined && list.page === 1)
    return (
      <State
        icon="members"
        title={t('provisioning.noRules')}
        actions={
          <Link
            to="/system/provisioning"
            search={{ view: 'groups' } as never}
            className="button"
            data-variant="default"
          >
            {t('provisioning.view.groups')}
          </Link>
        }
      >
        {t('provisioning.noRulesHint')}
      </State>
    )
  return (
    <State
      icon="search"
      title={t('provisioning.noRuleMatches')}
      actions={
        <Button onPress={() => list.setFilter({ project: undefined })}>{t('app.clearFilters')}</Button>
      }
    />
  )
}
