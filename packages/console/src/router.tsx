// Every address of the console. Sections are loaded when they are opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  defaultParseSearch,
  redirect,
} from '@tanstack/react-router'
import { startRead } from './api/requests.ts'
import { startApplicationNames } from './app/applications.ts'
import { lazyRouteComponent } from './app/lazy-route.ts'
import { validateSearch } from './app/list-search.ts'
import { startProjectRead } from './app/project.tsx'
import { ProjectRoute } from './app/project-route.tsx'
import { Shell } from './app/shell.tsx'
import { NotFound } from './app/not-found.tsx'
import { RouteError } from './app/route-error.tsx'
import { shellMeDocument } from './generated/documents.ts'

/** Ignores the failure of a read that was started early, because the frame of the page shows it. */
const ignoreFailure = (): void => {}

const root = createRootRoute({
  component: Shell,
  validateSearch,
  notFoundComponent: NotFound,
  loader: () => void startRead(shellMeDocument, {}).catch(ignoreFailure),
})
const getParentRoute = () => root

const home = createRoute({
  getParentRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./sections/projects/projects-page.tsx'), 'ProjectsPage'),
})
const me = createRoute({
  getParentRoute,
  path: '/me',
  component: lazyRouteComponent(() => import('./sections/me/me-page.tsx'), 'MePage'),
})
const users = createRoute({
  getParentRoute,
  path: '/system/users',
  component: lazyRouteComponent(() => import('./sections/system/users-page.tsx'), 'UsersPage'),
})
const tokens = createRoute({
  getParentRoute,
  path: '/system/tokens',
  component: lazyRouteComponent(() => import('./sections/system/tokens-page.tsx'), 'TokensPage'),
})
const provisioning = createRoute({
  getParentRoute,
  path: '/system/provisioning',
  component: lazyRouteComponent(
    () => import('./sections/provisioning/provisioning-page.tsx'),
    'ProvisioningPage',
  ),
})
const evidence = createRoute({
  getParentRoute,
  path: '/system/evidence',
  component: lazyRouteComponent(() => import('./sections/evidence/evidence-page.tsx'), 'EvidencePage'),
})
const accessReview = createRoute({
  getParentRoute,
  path: '/system/access-review',
  component: lazyRouteComponent(() => import('./sections/review/review-page.tsx'), 'ReviewPage'),
})
const invitation = createRoute({
  getParentRoute,
  path: '/invitations',
  component: lazyRouteComponent(() => import('./sections/invitations/invitation-page.tsx'), 'InvitationPage'),
})
/** The page that shows all components. A production build contains it only in the mode `kit`, which the tests use. */
const hasKit = import.meta.env.DEV || import.meta.env.MODE === 'kit'
const kitRoutes = hasKit
  ? [
      createRoute({
        getParentRoute,
        path: '/kit',
        component: lazyRouteComponent(() => import('./kit-page/kit-page.tsx'), 'KitPage'),
      }),
    ]
  : []

const project = createRoute({
  getParentRoute,
  path: '/p/$project',
  component: ProjectRoute,
  loader: ({ params }) => void startProjectRead(params.project).catch(ignoreFailure),
})
const inProject = { getParentRoute: () => project }
const projectHome = createRoute({
  ...inProject,
  path: '/',
  beforeLoad: ({ params }) => {
    // oxlint-disable-next-line typescript/only-throw-error -- TanStack Router expects a thrown redirect
    throw redirect({ to: '/p/$project/overview', params })
  },
})
const sections = [
  createRoute({
    ...inProject,
    path: 'overview',
    component: lazyRouteComponent(() => import('./sections/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    ...inProject,
    path: 'tenants',
    component: lazyRouteComponent(() => import('./sections/tenants/tenants-page.tsx'), 'TenantsPage'),
  }),
  createRoute({
    ...inProject,
    path: 'applications',
    component: lazyRouteComponent(
      () => import('./sections/applications/applications-page.tsx'),
      'ApplicationsPage',
    ),
  }),
  createRoute({
    ...inProject,
    path: 'access',
    component: lazyRouteComponent(() => import('./sections/access/access-page.tsx'), 'AccessPage'),
  }),
  createRoute({
    ...inProject,
    path: 'settings',
    component: lazyRouteComponent(() => import('./sections/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...inProject,
    path: 'language-packs',
    component: lazyRouteComponent(
      () => import('./sections/language-packs/packs-page.tsx'),
      'LanguagePacksPage',
    ),
  }),
  createRoute({
    ...inProject,
    path: 'members',
    component: lazyRouteComponent(() => import('./sections/members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    ...inProject,
    path: 'machine-users',
    component: lazyRouteComponent(
      () => import('./sections/machine-users/machine-users-page.tsx'),
      'MachineUsersPage',
    ),
  }),
  createRoute({
    ...inProject,
    path: 'deployments',
    component: lazyRouteComponent(
      () => import('./sections/deployments/deployments-page.tsx'),
      'DeploymentsPage',
    ),
  }),
  createRoute({
    ...inProject,
    path: 'esb',
    component: lazyRouteComponent(() => import('./sections/esb/esb-page.tsx'), 'EsbPage'),
  }),
  createRoute({
    ...inProject,
    path: 'esb/$endpoint',
    component: lazyRouteComponent(() => import('./sections/esb/template-page.tsx'), 'TemplatePage'),
  }),
  createRoute({
    ...inProject,
    path: 'pilets',
    component: lazyRouteComponent(() => import('./sections/pilets/pilets-page.tsx'), 'PiletsPage'),
  }),
  createRoute({
    ...inProject,
    path: 'notifications',
    component: lazyRouteComponent(
      () => import('./sections/notifications/notifications-page.tsx'),
      'NotificationsPage',
    ),
  }),
  createRoute({
    ...inProject,
    path: 'triggers',
    component: lazyRouteComponent(() => import('./sections/triggers/triggers-page.tsx'), 'TriggersPage'),
  }),
  createRoute({
    ...inProject,
    path: 'calls',
    component: lazyRouteComponent(() => import('./sections/calls/calls-page.tsx'), 'CallsPage'),
    // The calls can be read only when their application is known.
    loader: ({ params }) => void startApplicationNames(params.project).catch(ignoreFailure),
  }),
  createRoute({
    ...inProject,
    path: 'audit',
    component: lazyRouteComponent(() => import('./sections/audit/audit-page.tsx'), 'AuditPage'),
  }),
] as const

export const router = createRouter({
  basepath: '/console',
  // If a route rejects parameters, the router merges them back in, so they are validated where the search is parsed.
  parseSearch: (text) => validateSearch(defaultParseSearch(text)),
  routeTree: root.addChildren([
    home,
    me,
    invitation,
    users,
    tokens,
    provisioning,
    evidence,
    accessReview,
    ...kitRoutes,
    project.addChildren([projectHome, ...sections]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- the router reads this interface
  interface Register {
    router: typeof router
  }
}
