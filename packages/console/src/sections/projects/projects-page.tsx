// The start page: the projects that the caller can open, most recently opened first.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { CreateProjectDialog } from '../../app/create-project.tsx'
import { readLastProject } from '../../app/last-project.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { useListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import {
  type ShellProjectsResult,
  shellMeDocument,
  shellProjectsDocument,
} from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import './projects.css'

type Project = ShellProjectsResult['projectsConnection']['nodes'][number]

export function ProjectsPage(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const query = list.search['q'] ?? ''
  const [text, setText] = useSearchText(list)
  const [isCreating, setCreating] = useState(false)
  const me = useRead(shellMeDocument, {}).data?.me
  const { data, error, refetch } = useRead(
    shellProjectsDocument,
    {
      filters: query === '' ? [] : [{ field: 'name', value: query }],
      pagination: { limit: list.size, offset: (list.page - 1) * list.size },
    },
    { keepsPrevious: true },
  )
  const result = data?.projectsConnection
  const canCreate = may(me, 'projects.create')
  const isFirst = query === '' && list.page === 1
  return (
    <Page
      title={t('projects.title')}
      actions={
        canCreate && (
          <Button variant="primary" icon="add" action="projects.create" onPress={() => setCreating(true)}>
            {t('app.createProject')}
          </Button>
        )
      }
      filters={<SearchField label={t('app.findProject')} value={text} onChange={setText} />}
      foot={result !== undefined && result.nodes.length > 0 && <ListPager list={list} result={result} />}
    >
      {error !== null && result === undefined && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {result === undefined && error === null && <Skeleton />}
      {result !== undefined && result.nodes.length > 0 && (
        <ProjectList projects={result.nodes} last={isFirst ? readLastProject() : null} />
      )}
      {result?.nodes.length === 0 &&
        (query === '' ? (
          <State icon="overview" title={t('projects.empty')}>
            {canCreate ? t('projects.emptyForCreator') : t('projects.emptyHint')}
          </State>
        ) : (
          <State
            icon="filter"
            title={t('projects.noMatch')}
            actions={
              <Button onPress={() => list.setFilter({ q: undefined })}>{t('projects.clearFilter')}</Button>
            }
          >
            {t('projects.noMatchHint', query)}
          </State>
        ))}
      {isCreating && <CreateProjectDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}

function ProjectList({ projects, last }: { projects: readonly Project[]; last: string | null }): ReactNode {
  const ordered = [...projects].toSorted((a, b) => Number(b.slug === last) - Number(a.slug === last))
  return (
    <ul className="project-list">
      {ordered.map((project) => (
        <ProjectCard key={project.id} project={project} isLast={project.slug === last} />
      ))}
    </ul>
  )
}

function ProjectCard({ project, isLast }: { project: Project; isLast: boolean }): ReactNode {
  const t = useText()
  const { name, slug, myRole } = project
  return (
    <li>
      <Link to="/p/$project/overview" params={{ project: slug }} className="project-card">
        <span className="project-card-mark" aria-hidden="true">
          {name.trim().slice(0, 1).toLocaleUpperCase()}
        </span>
        <span className="project-card-names">
          <span className="project-card-name truncate">{name}</span>
          <span className="mono muted truncate">{slug}</span>
        </span>
        {isLast && <Badge tone="accent">{t('projects.last')}</Badge>}
        {myRole !== null && <Badge tone="outline">{myRole}</Badge>}
        <Icon name="chevronRight" tone="muted" />
      </Link>
    </li>
  )
}
