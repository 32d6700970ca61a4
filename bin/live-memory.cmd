@echo off
rem Finds a Python that is new enough and hands over to the launcher.
setlocal
set "launcher=%~dp0launcher\__main__.py"
for %%P in ("py -3" python3 python) do (
  %%~P -ESs -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && (
    %%~P -ESs "%launcher%" %*
    exit /b
  )
)
echo live-memory: no Python 3.11 or newer was found on PATH; install one. 1>&2
exit /b 1
