#!/bin/bash
# Pretraining on several machines of a Slurm cluster; the same script for every start:
#   sbatch examples/slurm.sh
# What it needs: DATA (from 'elmo prepare') and RUN on a file system that all machines see.
# A job that meets its time limit is warned 90 seconds before, saves, and is queued again; a process or machine that
# fails makes torchrun start all processes anew from the last checkpoint.
#SBATCH --job-name=elmo-pretrain
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
##SBATCH --gpus-per-node=8         (with GPUs: take away one #, and set PROCESSES below to the same number)
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90

PROCESSES=${PROCESSES:-2}           # on each machine: one for each GPU, or on CPUs one for each 2 to 8 cores
DATA=${DATA:-data} RUN=${RUN:-run} CONFIG=${CONFIG:-configs/pretrain/small-en.toml}
FIRST=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

srun --kill-on-bad-exit=0 torchrun \
    --nnodes="$SLURM_JOB_NUM_NODES" --nproc-per-node="$PROCESSES" \
    --rdzv-id="$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}" --rdzv-backend=c10d --rdzv-endpoint="$FIRST:29500" \
    --max-restarts=20 --shutdown-timeout=60 \
    -m elmo pretrain "$CONFIG" --data "$DATA" -o "$RUN" --resume-if-begun &
STEP=$!

# Slurm warns this script alone (B:): it passes the warning on, waits until all is saved, and asks for another turn.
warned() {
    kill -TERM "$STEP"
    wait "$STEP"
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
}
trap warned TERM
wait "$STEP"
