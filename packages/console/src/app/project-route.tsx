// Loads the project that the address names before it shows the sections of the project.
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { describeFailure } from '../api/failures.ts'
import { FailureState, Skeleton } from '../kit/state.tsx'
import { useText } from '../texts/language.tsx'
import { saveLastProject } from './last-project.ts'
import { ProjectProvider, useProjectRead } from './project.tsx'

export function ProjectRoute(): ReactNode {
  const t = useText()
  const { project: slug = '' } = useParams({ strict: false })
  const { project, error, retry } = useProjectRead(slug)
  const openSlug = project?.slug
  useEffect(() => {
    if (openSlug !== undefined) saveLastProject(openSlug)
  }, [openSlug])
  if (project !== null)
    return (
      // The key discards all state of the previous project, such as unsaved changes, when another project opens.
      <ProjectProvider key={project.id} project={project}>
        <Outlet />
      </ProjectProvider>
    )
  if (error === null)
    return (
      <div className="shell-loading">
        <Skeleton />
      </div>
    )
  return (
    <FailureState
      isPage
      failure={describeFailure(error)}
      onRetry={retry}
      actions={
        <Link to="/" className="button" data-variant="quiet">
          {t('app.allProjects')}
        </Link>
      }
    />
  )
}
