import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/call.ts'
import { router } from './router.tsx'
import './style.css'

const RETRIES = 2
const FRESH_MS = 500

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // A refusal stays one; a server that restarts answers again soon.
      retry: (count, error) =>
        count < RETRIES && error instanceof ApiError && (error.status === 0 || error.status === 503),
    },
  },
})

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no root element.')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
